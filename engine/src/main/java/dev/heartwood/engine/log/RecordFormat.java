package dev.heartwood.engine.log;

import dev.heartwood.engine.os.Memory;

/** Where the fields of records are, by the format of their segment; what both have in common is in {@link LogLayout}. */
enum RecordFormat {
    /**
     * Format 1, of which nothing is written any more: check, length, LSN (8 bytes), sequence (8 bytes), kind and key length, unsynced,
     * payload; 8-aligned.
     */
    WIDE(32, 24, 8) {
        @Override
        long lsn(long address, long first) {
            return Memory.getLong(address + LogLayout.RECORD_LSN);
        }

        @Override
        long sequence(long address, long first) {
            return Memory.getLong(address + LogLayout.RECORD_LSN + 8);
        }
    },

    /** Format 2. */
    NARROW(LogLayout.RECORD_PAYLOAD, LogLayout.RECORD_KIND, LogLayout.RECORD_ALIGNMENT) {
        @Override
        long lsn(long address, long first) {
            return from(first, Memory.getInt(address + LogLayout.RECORD_LSN));
        }

        @Override
        long sequence(long address, long first) {
            return from(first, Memory.getInt(address + LogLayout.RECORD_SEQUENCE));
        }
    };

    /** Where the payload begins: the length of a record without any. */
    final int payload;
    /** Where kind and key length are, behind which is what is unsynced. */
    final int kind;
    /** Of which the places of records are multiples. */
    final int alignment;

    RecordFormat(int payload, int kind, int alignment) {
        this.payload = payload;
        this.kind = kind;
        this.alignment = alignment;
    }

    static RecordFormat of(int format) {
        return format == LogLayout.FORMAT_OLDEST ? WIDE : NARROW;
    }

    /** The record's LSN, in a generation that begins with {@code first}. */
    abstract long lsn(long address, long first);

    /** The record's sequence, in a generation whose sequences begin with {@code first}. */
    abstract long sequence(long address, long first);

    /** The number from {@code first} on that has this low half. */
    private static long from(long first, int low) {
        return first + Integer.toUnsignedLong(low - (int) first);
    }
}
