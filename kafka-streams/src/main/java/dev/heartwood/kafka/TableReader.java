package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import dev.heartwood.KeyRange;

/** Reads a table: as it is, or as it was at its last commit. Thread-safe. */
interface TableReader {
    /** The value of a table key, or null. */
    byte[] get(byte[] tableKey);

    /** A cursor; must be closed. */
    Cursor cursor(KeyRange range);

    /** Of what has expired by this time some may have left the disk. */
    long streamTime();

    /** Registers an iterator, to be closed with the table, and returns it. */
    <I extends TableIterator<?>> I opened(I iterator);
}
