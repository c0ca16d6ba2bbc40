package dev.heartwood.engine.merge;

import dev.heartwood.engine.base.EntryCursor;

/** Receives the entries that survive a merge, in order. */
interface EntrySink {
    /** Takes the entry a cursor stands on, with another sequence number; values kept apart are passed on by reference. */
    void addCurrent(EntryCursor cursor, long sequence);

    /** Takes an entry with a value from the heap, of any length. */
    void add(long key, int keyLength, long sequence, byte kind, byte[] value);

    /** How many it has taken. */
    long entries();
}
