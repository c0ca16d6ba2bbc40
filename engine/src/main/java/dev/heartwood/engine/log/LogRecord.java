package dev.heartwood.engine.log;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Crc32c;
import dev.heartwood.engine.os.Memory;

/** Reads the fields of a record at an address; the layout is in {@link LogLayout}. */
final class LogRecord {
    private LogRecord() {}

    /**
     * Whether a record may begin here as far as its length and kind say: cheap, and when true the record lies within {@code
     * available} bytes.
     */
    static boolean isPlausible(long address, long available) {
        if (available < LogLayout.RECORD_PAYLOAD) {
            return false;
        }
        int length = length(address);
        if (length < LogLayout.RECORD_PAYLOAD || length > available) {
            return false;
        }
        int payload = length - LogLayout.RECORD_PAYLOAD;
        return switch (kind(address)) {
            case Entries.PUT, Entries.MERGE -> keyLength(address) <= Math.min(payload, LogLayout.KEY_BYTES_MAX);
            case Entries.DELETE -> keyLength(address) == payload && payload <= LogLayout.KEY_BYTES_MAX;
            case LogLayout.KIND_BATCH -> keyLength(address) == 0 && payload >= LogLayout.BATCH_COUNT_BYTES;
            case LogLayout.KIND_MARK -> keyLength(address) == 0 && payload == 0;
            default -> false;
        };
    }

    /** Whether the checksum of a plausible record holds. */
    static boolean isIntact(long address, int seed) {
        return Memory.getInt(address + LogLayout.RECORD_CHECKSUM) == checksum(address, length(address), seed);
    }

    static int checksum(long address, int length, int seed) {
        return Crc32c.of(address + LogLayout.RECORD_LENGTH, length - LogLayout.RECORD_LENGTH) ^ seed;
    }

    static int length(long address) {
        return Memory.getInt(address + LogLayout.RECORD_LENGTH);
    }

    static long lsn(long address) {
        return Memory.getLong(address + LogLayout.RECORD_LSN);
    }

    static long sequence(long address) {
        return Memory.getLong(address + LogLayout.RECORD_SEQUENCE);
    }

    static int kind(long address) {
        return Memory.getUnsignedByte(address + LogLayout.RECORD_KIND);
    }

    static int keyLength(long address) {
        return Memory.getInt(address + LogLayout.RECORD_KIND) >>> 8;
    }

    /** The greatest LSN of which the record says that it was durable; 0 when it says nothing. */
    static long durableLsn(long address) {
        int unsynced = Memory.getInt(address + LogLayout.RECORD_UNSYNCED);
        return unsynced == LogLayout.UNSYNCED_UNKNOWN ? 0 : lsn(address) - Integer.toUnsignedLong(unsynced);
    }

    static int batchCount(long address) {
        return Memory.getInt(address + LogLayout.RECORD_PAYLOAD);
    }

    static long batchPayload(long address) {
        return address + LogLayout.RECORD_PAYLOAD + LogLayout.BATCH_COUNT_BYTES;
    }

    static int batchPayloadLength(long address) {
        return length(address) - LogLayout.RECORD_PAYLOAD - LogLayout.BATCH_COUNT_BYTES;
    }

    /** Stores all fields but the checksum and the payload. */
    static void writeHeader(long at, int length, long lsn, long sequence, int kindAndKeyLength, int unsynced) {
        Memory.putInt(at + LogLayout.RECORD_LENGTH, length);
        Memory.putLong(at + LogLayout.RECORD_LSN, lsn);
        Memory.putLong(at + LogLayout.RECORD_SEQUENCE, sequence);
        Memory.putInt(at + LogLayout.RECORD_KIND, kindAndKeyLength);
        Memory.putInt(at + LogLayout.RECORD_UNSYNCED, unsynced);
    }
}
