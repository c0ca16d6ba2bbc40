package dev.heartwood.engine.log;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;

/**
 * The encoding of a batch of writes, in a write batch as in the log: for each entry its kind (one byte), the key's and the
 * value's length (varints of 7 bits a byte, low bits first), the key and the value. A delete has a value of length 0.
 *
 * <p>An instance walks a payload without allocating; one thread at a time.
 */
public final class BatchPayload {
    private static final int VARINT_BYTES_MAX = 5;

    /** The kind of the entry, of {@link Entries}. */
    public byte kind;

    public long keyAddress;
    public int keyLength;
    public long valueAddress;
    public int valueLength;

    private long position;
    private long end;

    /** The bytes that an entry takes. */
    public static long entryBytes(int keyLength, int valueLength) {
        return 1L + varintBytes(keyLength) + varintBytes(valueLength) + keyLength + valueLength;
    }

    /** Writes kind and lengths at {@code address}; returns where the key goes, behind which the value goes. */
    public static long putHeader(long address, byte kind, int keyLength, int valueLength) {
        Memory.putByte(address, kind);
        return putVarint(putVarint(address + 1, keyLength), valueLength);
    }

    /** Writes an entry at {@code address}; returns the address behind it. */
    public static long put(
            long address, byte kind, long key, int keyLength, long value, int valueLength) {
        long at = putHeader(address, kind, keyLength, valueLength);
        Memory.copy(key, at, keyLength);
        Memory.copy(value, at + keyLength, valueLength);
        return at + keyLength + valueLength;
    }

    /** The number of entries when the bytes are a well-formed payload, else -1. Takes time linear in the length. */
    public int count(long address, long length) {
        reset(address, length);
        int count = 0;
        while (next()) {
            count++;
        }
        return position == end ? count : -1;
    }

    /** Begins to walk a payload. */
    public void reset(long address, long length) {
        position = address;
        end = address + length;
    }

    /** Moves to the next entry; false at the end, and where the bytes are not an entry. Reads nothing outside of the payload. */
    public boolean next() {
        long at = position;
        if (at >= end) {
            return false;
        }
        int entryKind = Memory.getByte(at++);
        long key = varint(at);
        at += varintBytes(key);
        long value = key < 0 ? -1 : varint(at);
        if (value < 0 || !Entries.isKind(entryKind) || key > LogLayout.KEY_BYTES_MAX) {
            return false;
        }
        at += varintBytes(value);
        if (key + value > end - at || entryKind == Entries.DELETE && value != 0) {
            return false;
        }
        kind = (byte) entryKind;
        keyAddress = at;
        keyLength = (int) key;
        valueAddress = at + key;
        valueLength = (int) value;
        position = at + key + value;
        return true;
    }

    /** The shortest-form varint at an address, below 2^31; -1 when there is none before the end. */
    private long varint(long at) {
        long value = 0;
        for (int i = 0; i < VARINT_BYTES_MAX && at + i < end; i++) {
            int b = Memory.getByte(at + i);
            value |= (b & 0x7fL) << 7 * i;
            if (b >= 0) {
                boolean shortest = varintBytes(value) == i + 1;
                return shortest && value <= Integer.MAX_VALUE ? value : -1;
            }
        }
        return -1;
    }

    private static int varintBytes(long value) {
        return value < 0 ? 0 : (Long.SIZE - Long.numberOfLeadingZeros(value | 1) + 6) / 7;
    }

    private static long putVarint(long address, int value) {
        while (value > 0x7f) {
            Memory.putByte(address++, value | 0x80);
            value >>>= 7;
        }
        Memory.putByte(address++, value);
        return address;
    }
}
