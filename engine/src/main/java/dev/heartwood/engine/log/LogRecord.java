package dev.heartwood.engine.log;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Crc32c;
import dev.heartwood.engine.os.Memory;

/** Reads the fields of a segment's records at their addresses; immutable. The layout is in {@link LogLayout}. */
final class LogRecord {
    private final RecordFormat format;
    private final long firstLsn;
    private final long firstSequence;
    private final int seed;

    LogRecord(RecordFormat format, long firstLsn, long firstSequence, int seed) {
        this.format = format;
        this.firstLsn = firstLsn;
        this.firstSequence = firstSequence;
        this.seed = seed;
    }

    /** For the records of a segment. */
    static LogRecord of(SegmentHeader header) {
        LogGeneration generation = header.generation();
        return new LogRecord(header.format(), generation.firstLsn(), generation.firstSequence(), header.seed());
    }

    /**
     * Whether a record may begin here as far as its length, kind and numbers say: cheap, and when true the record lies within {@code
     * available} bytes.
     */
    boolean isPlausible(long address, long available) {
        if (available < format.payload) {
            return false;
        }
        int length = length(address);
        if (length < format.payload || length > available) {
            return false;
        }
        int payload = length - format.payload;
        boolean isKind =
                switch (kind(address)) {
                    case Entries.PUT, Entries.MERGE -> keyLength(address) <= Math.min(payload, LogLayout.KEY_BYTES_MAX);
                    case Entries.DELETE -> keyLength(address) == payload && payload <= LogLayout.KEY_BYTES_MAX;
                    case LogLayout.KIND_BATCH -> keyLength(address) == 0 && payload >= LogLayout.BATCH_COUNT_BYTES;
                    case LogLayout.KIND_MARK -> keyLength(address) == 0 && payload == 0;
                    default -> false;
                };
        return isKind && isDrawn(lsn(address), firstLsn) && (isMark(address) || isDrawn(sequence(address), firstSequence));
    }

    /** Whether a generation whose numbers begin with {@code first} may have drawn this one. */
    private boolean isDrawn(long number, long first) {
        return format == RecordFormat.WIDE || number - first < LogLayout.DRAWN_MAX;
    }

    /** Whether the checksum of a plausible record holds. */
    boolean isIntact(long address) {
        return Memory.getInt(address + LogLayout.RECORD_CHECKSUM) == checksum(address, length(address), seed);
    }

    /** Whether the checksum of a plausible record holds in a mapping of which {@code sums} knows the checksums of parts. */
    boolean isIntact(long address, RecordSums sums) {
        int sum = sums.sum(address + LogLayout.RECORD_LENGTH, address + length(address));
        return Memory.getInt(address + LogLayout.RECORD_CHECKSUM) == (sum ^ seed);
    }

    static int checksum(long address, int length, int seed) {
        return Crc32c.of(address + LogLayout.RECORD_LENGTH, length - LogLayout.RECORD_LENGTH) ^ seed;
    }

    /** The bytes of a record without payload. */
    int bytesMin() {
        return format.payload;
    }

    /** Of which the offsets of records are multiples. */
    int alignment() {
        return format.alignment;
    }

    /** The bytes from a record to the next. */
    long step(long address) {
        return LogLayout.align(length(address), format.alignment);
    }

    static int length(long address) {
        return Memory.getInt(address + LogLayout.RECORD_LENGTH);
    }

    long lsn(long address) {
        return format.lsn(address, firstLsn);
    }

    long sequence(long address) {
        return format.sequence(address, firstSequence);
    }

    int kind(long address) {
        return Memory.getUnsignedByte(address + format.kind);
    }

    boolean isMark(long address) {
        return kind(address) == LogLayout.KIND_MARK;
    }

    boolean isBatch(long address) {
        return kind(address) == LogLayout.KIND_BATCH;
    }

    int keyLength(long address) {
        return Memory.getInt(address + format.kind) >>> 8;
    }

    /** The address of an entry's key, behind which its value is. */
    long key(long address) {
        return address + format.payload;
    }

    int valueLength(long address) {
        return length(address) - format.payload - keyLength(address);
    }

    /** The greatest LSN of which the record says that it was durable; 0 when it says nothing. */
    long durableLsn(long address) {
        int unsynced = Memory.getInt(address + format.kind + 4);
        return unsynced == LogLayout.UNSYNCED_UNKNOWN ? 0 : lsn(address) - Integer.toUnsignedLong(unsynced);
    }

    int batchCount(long address) {
        return Memory.getInt(address + format.payload);
    }

    long batchPayload(long address) {
        return address + format.payload + LogLayout.BATCH_COUNT_BYTES;
    }

    int batchPayloadLength(long address) {
        return length(address) - format.payload - LogLayout.BATCH_COUNT_BYTES;
    }

    /** Stores all fields but the checksum and the payload, of the newest format. */
    static void writeHeader(long at, int length, long lsn, long sequence, int kindAndKeyLength, int unsynced) {
        Memory.putInt(at + LogLayout.RECORD_LENGTH, length);
        Memory.putInt(at + LogLayout.RECORD_LSN, (int) lsn);
        Memory.putInt(at + LogLayout.RECORD_SEQUENCE, (int) sequence);
        Memory.putInt(at + LogLayout.RECORD_KIND, kindAndKeyLength);
        Memory.putInt(at + LogLayout.RECORD_UNSYNCED, unsynced);
    }
}
