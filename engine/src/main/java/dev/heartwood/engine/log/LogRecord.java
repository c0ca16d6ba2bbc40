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

    /** Whether a record may begin here as far as its kind and numbers say, which are in its first {@link #headerMin} bytes. */
    boolean mayBegin(long address) {
        return isKind(kind(address))
                && isDrawn(lsn(address), firstLsn)
                && (isMark(address) ? isOwnMark(address) : isDrawn(sequence(address), firstSequence));
    }

    /** A mark has the generation's first sequence; in older formats it may have another. */
    private boolean isOwnMark(long address) {
        return format != RecordFormat.SHORT || sequence(address) == firstSequence;
    }

    private static boolean isKind(int kind) {
        return Entries.isKind(kind) || kind == LogLayout.KIND_BATCH || kind == LogLayout.KIND_MARK;
    }

    /**
     * Whether a record may begin here as far as its lengths, kind and numbers say: cheap, and when true the record lies within {@code
     * available} bytes.
     */
    boolean isPlausible(long address, long available) {
        if (available < format.headerMin || !mayBegin(address)) {
            return false;
        }
        int header = headerBytes(address);
        if (available < header) {
            return false;
        }
        int payload = format.payloadLength(address);
        int key = keyLength(address);
        if (payload < 0 || payload > available - header) {
            return false;
        }
        return switch (kind(address)) {
            case Entries.PUT, Entries.MERGE -> key <= Math.min(payload, LogLayout.KEY_BYTES_MAX);
            case Entries.DELETE -> key == payload && payload <= LogLayout.KEY_BYTES_MAX;
            case LogLayout.KIND_BATCH -> key == 0 && payload >= LogLayout.BATCH_COUNT_BYTES;
            default -> key == 0 && payload == 0;
        };
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
        int sum = sums.sum(address + LogLayout.RECORD_CHECKED, address + length(address));
        return Memory.getInt(address + LogLayout.RECORD_CHECKSUM) == (sum ^ seed);
    }

    static int checksum(long address, int length, int seed) {
        return Crc32c.of(address + LogLayout.RECORD_CHECKED, length - LogLayout.RECORD_CHECKED) ^ seed;
    }

    /** The bytes of a record without payload, at least. */
    int headerMin() {
        return format.headerMin;
    }

    /** The bytes before a record's payload. */
    int headerBytes(long address) {
        return format.headerBytes(address);
    }

    /** Of which the offsets of records are multiples. */
    int alignment() {
        return format.alignment;
    }

    /** The bytes from a record to the next. */
    long step(long address) {
        return LogLayout.align(length(address), format.alignment);
    }

    /** The bytes of a record from its first to its last, without the padding to the next. */
    int length(long address) {
        return headerBytes(address) + format.payloadLength(address);
    }

    long lsn(long address) {
        return format.lsn(address, firstLsn);
    }

    long sequence(long address) {
        return format.sequence(address, firstSequence);
    }

    int kind(long address) {
        return format.kind(address);
    }

    boolean isMark(long address) {
        return kind(address) == LogLayout.KIND_MARK;
    }

    boolean isBatch(long address) {
        return kind(address) == LogLayout.KIND_BATCH;
    }

    int keyLength(long address) {
        return format.keyLength(address);
    }

    /** The address of an entry's key, behind which its value is. */
    long key(long address) {
        return address + headerBytes(address);
    }

    int valueLength(long address) {
        return format.payloadLength(address) - keyLength(address);
    }

    /** The greatest LSN of which the record says that it was durable; 0 when it says nothing. */
    long durableLsn(long address) {
        long unsynced = format.unsynced(address);
        return unsynced == LogLayout.UNSYNCED_UNKNOWN ? 0 : lsn(address) - unsynced;
    }

    int batchCount(long address) {
        return Memory.getInt(key(address));
    }

    long batchPayload(long address) {
        return key(address) + LogLayout.BATCH_COUNT_BYTES;
    }

    int batchPayloadLength(long address) {
        return format.payloadLength(address) - LogLayout.BATCH_COUNT_BYTES;
    }

    /**
     * Stores all fields but the checksum and the payload, of the newest format.
     *
     * @param unsynced at most {@link LogLayout#UNSYNCED_MAX}, or {@link LogLayout#UNSYNCED_UNKNOWN}
     * @return the bytes before the payload
     */
    static int writeHeader(
            long at, long lsn, long sequence, int kind, int keyLength, int payloadLength, long unsynced) {
        int rest = payloadLength - keyLength;
        boolean isShort = keyLength <= LogLayout.SHORT_KEY_BYTES_MAX && rest <= LogLayout.SHORT_REST_BYTES_MAX;
        int word = kind | LogLayout.KIND_IS_RECORD | keyLength << 8;
        int header = LogLayout.RECORD_HEADER_MIN;
        if (isShort) {
            word |= rest << 16;
        } else {
            word |= LogLayout.KIND_IS_LONG;
            Memory.putInt(at + header, payloadLength);
            header += 4;
        }
        if (unsynced != LogLayout.UNSYNCED_UNKNOWN) {
            word |= LogLayout.KIND_SAYS_DURABLE;
            Memory.putInt(at + header, (int) unsynced);
            header += 4;
        }
        Memory.putInt(at + LogLayout.RECORD_LSN, (int) lsn);
        Memory.putInt(at + LogLayout.RECORD_SEQUENCE, (int) sequence);
        Memory.putInt(at + LogLayout.RECORD_KIND, word);
        return header;
    }
}
