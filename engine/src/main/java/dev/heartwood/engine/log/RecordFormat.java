package dev.heartwood.engine.log;

import dev.heartwood.engine.os.Memory;

/** Where the fields of records are, by the format of their segment; what all have in common is in {@link LogLayout}. */
enum RecordFormat {
    /**
     * Format 1, of which nothing is written any more: check, length, LSN (8 bytes), sequence (8 bytes), kind and key length, unsynced,
     * payload; 8-aligned.
     */
    WIDE(32, 8) {
        @Override
        long lsn(long address, long first) {
            return Memory.getLong(address + 8);
        }

        @Override
        long sequence(long address, long first) {
            return Memory.getLong(address + 16);
        }
    },

    /** Format 2, of which nothing is written any more: as format 1, with LSN and sequence of 4 bytes; 4-aligned. */
    NARROW(24, 4) {
        @Override
        long lsn(long address, long first) {
            return from(first, Memory.getInt(address + 8));
        }

        @Override
        long sequence(long address, long first) {
            return from(first, Memory.getInt(address + 12));
        }
    },

    /** Format 3, see {@link LogLayout}. */
    SHORT(LogLayout.RECORD_HEADER_MIN, LogLayout.RECORD_ALIGNMENT) {
        @Override
        long lsn(long address, long first) {
            return from(first, Memory.getInt(address + LogLayout.RECORD_LSN));
        }

        @Override
        long sequence(long address, long first) {
            return from(first, Memory.getInt(address + LogLayout.RECORD_SEQUENCE));
        }

        private boolean is(long address, int flag) {
            return (Memory.getUnsignedByte(address + LogLayout.RECORD_KIND) & flag) != 0;
        }

        private int word(long address) {
            return Memory.getInt(address + LogLayout.RECORD_KIND);
        }

        @Override
        int kind(long address) {
            return is(address, LogLayout.KIND_IS_RECORD) ? word(address) & LogLayout.KIND_MASK : 0;
        }

        @Override
        int headerBytes(long address) {
            return headerMin
                    + (is(address, LogLayout.KIND_IS_LONG) ? 4 : 0)
                    + (is(address, LogLayout.KIND_SAYS_DURABLE) ? 4 : 0);
        }

        @Override
        int keyLength(long address) {
            return is(address, LogLayout.KIND_IS_LONG) ? word(address) >>> 8 : word(address) >>> 8 & LogLayout.SHORT_KEY_BYTES_MAX;
        }

        @Override
        int payloadLength(long address) {
            return is(address, LogLayout.KIND_IS_LONG)
                    ? Memory.getInt(address + headerMin)
                    : keyLength(address) + (word(address) >>> 16);
        }

        @Override
        long unsynced(long address) {
            return is(address, LogLayout.KIND_SAYS_DURABLE)
                    ? Integer.toUnsignedLong(Memory.getInt(address + headerBytes(address) - 4))
                    : LogLayout.UNSYNCED_UNKNOWN;
        }
    };

    private static final int UNSYNCED_UNKNOWN_OF_OLD = -1;

    /** The length of a record without payload, at least. */
    final int headerMin;
    /** Of which the places of records are multiples. */
    final int alignment;

    RecordFormat(int headerMin, int alignment) {
        this.headerMin = headerMin;
        this.alignment = alignment;
    }

    static RecordFormat of(int format) {
        return values()[format - LogLayout.FORMAT_OLDEST];
    }

    /** The record's LSN, in a generation that begins with {@code first}. */
    abstract long lsn(long address, long first);

    /** The record's sequence, in a generation whose sequences begin with {@code first}. */
    abstract long sequence(long address, long first);

    /** What kind it is; 0 for what is no record. */
    int kind(long address) {
        return Memory.getUnsignedByte(address + headerMin - 8);
    }

    /** The bytes before the payload, which the first {@link #headerMin} tell. */
    int headerBytes(long address) {
        return headerMin;
    }

    int keyLength(long address) {
        return Memory.getInt(address + headerMin - 8) >>> 8;
    }

    /** The bytes of the payload, which the header tells; negative for what is no record. */
    int payloadLength(long address) {
        return Memory.getInt(address + LogLayout.RECORD_CHECKED) - headerMin;
    }

    /** The record's LSN less the one up to which everything was durable, or {@link LogLayout#UNSYNCED_UNKNOWN}. */
    long unsynced(long address) {
        int unsynced = Memory.getInt(address + headerMin - 4);
        return unsynced == UNSYNCED_UNKNOWN_OF_OLD ? LogLayout.UNSYNCED_UNKNOWN : Integer.toUnsignedLong(unsynced);
    }

    /** The number from {@code first} on that has this low half. */
    private static long from(long first, int low) {
        return first + Integer.toUnsignedLong(low - (int) first);
    }
}
