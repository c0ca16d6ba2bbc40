package dev.heartwood.engine.trunk;

import java.util.Arrays;

/** A set of sampled hashes with a share for each, the greatest that was given; an open hash table. For one thread. */
final class HashShares {
    private static final int SLOTS_MIN = 64;

    private int[] hashes = new int[SLOTS_MIN];
    /** 0 where a slot is free. */
    private float[] shares = new float[SLOTS_MIN];

    private int size;

    /** Forgets everything, and has room for so many hashes. */
    void clear(int room) {
        int slots = Math.max(SLOTS_MIN, Integer.highestOneBit(Math.max(1, room)) << 2);
        if (slots > hashes.length) {
            hashes = new int[slots];
            shares = new float[slots];
        } else {
            Arrays.fill(shares, 0);
        }
        size = 0;
    }

    int size() {
        return size;
    }

    /** Adds a hash, or raises its share; the share is above 0. */
    void add(int hash, float share) {
        if (2 * size >= hashes.length) {
            grow();
        }
        int slot = slot(hash);
        if (shares[slot] == 0) {
            hashes[slot] = hash;
            size++;
        }
        shares[slot] = Math.max(shares[slot], share);
    }

    /** The share of a hash; 0 when it is not there. */
    float share(int hash) {
        return shares[slot(hash)];
    }

    /** Where a hash is, or would be. */
    private int slot(int hash) {
        int mask = hashes.length - 1;
        int slot = hash * 0x9E3779B9 >>> 7 & mask;
        while (shares[slot] != 0 && hashes[slot] != hash) {
            slot = slot + 1 & mask;
        }
        return slot;
    }

    private void grow() {
        int[] oldHashes = hashes;
        float[] oldShares = shares;
        hashes = new int[2 * oldHashes.length];
        shares = new float[hashes.length];
        size = 0;
        for (int i = 0; i < oldHashes.length; i++) {
            if (oldShares[i] != 0) {
                add(oldHashes[i], oldShares[i]);
            }
        }
    }
}
