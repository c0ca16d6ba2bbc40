package dev.heartwood.engine.log;

import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import java.util.List;

/**
 * Walks the records of one lane of one generation, from its first segment to the first byte that is not a valid record. One
 * thread. Only the current segment is mapped.
 */
final class LaneReader implements AutoCloseable {
    /*
     * Where a segment is followed by another, the other says where this one's records end; the records must reach exactly to
     * there. The last segment ends with its first invalid record. Segment numbers must have no hole.
     *
     * A page that cannot be read is nobody's loss behind the records: in a file that was used before nobody may have looked at it. Where
     * another segment says where they end, that is known. In the last one it is where the place behind the last record can be read and no
     * record was begun there; a record that lies on such a page, or may, is missed.
     */
    private final Storage storage;
    private final List<LogScan.Segment> segments;
    private final LogGeneration generation;
    private final BatchPayload batch = new BatchPayload();

    private int current = -1;
    private MappedFile mapped;
    private LogRecord record;
    private long offset;
    private long next;
    private boolean ended;
    private long lsn;
    private long sequence;
    private long sequenceLast = -1;
    private long durableLsn;

    LaneReader(Storage storage, LogGeneration generation, List<LogScan.Segment> segments) {
        this.storage = storage;
        this.generation = generation;
        this.segments = segments;
        this.lsn = generation.firstLsn() - 1;
    }

    /**
     * Moves to the next record; false at the end of the lane.
     *
     * @throws dev.heartwood.CorruptionException for a record with a valid checksum that cannot be
     */
    boolean next() {
        if (ended) {
            return false;
        }
        if (current < 0 && !openNext()) {
            return end();
        }
        offset = next;
        while (offset == followingPreviousEnd()) {
            openNext();
            offset = next;
        }
        long address = mapped.address() + offset;
        if (!isRecord(address, Math.min(mapped.length(), followingPreviousEnd()) - offset)) {
            return end();
        }
        take(address);
        next = offset + record.step(address);
        return true;
    }

    /** Whether there is a valid record here, of {@code available} bytes at most. */
    private boolean isRecord(long address, long available) {
        long readable = mapped.windowEnd() - offset;
        if (readable < Math.min(available, record.headerMin())) {
            throw LogScan.unread(mapped);
        }
        if (available < record.headerMin() || !record.mayBegin(address)) {
            return false;
        }
        boolean isHeaderReadable = record.headerBytes(address) <= readable;
        if (isHeaderReadable && !record.isPlausible(address, available)) {
            return false;
        }
        boolean isIntact = isHeaderReadable && record.length(address) <= readable && record.isIntact(address);
        if (!isIntact && readable < available && record.lsn(address) > lsn) {
            throw LogScan.unread(mapped);
        }
        return isIntact;
    }

    private void take(long address) {
        long recordLsn = record.lsn(address);
        if (recordLsn <= lsn) {
            throw LogScan.damaged(storage, file(), offset, "an LSN above " + lsn, "LSN " + recordLsn);
        }
        lsn = recordLsn;
        durableLsn = Math.max(durableLsn, record.durableLsn(address));
        if (durableLsn >= lsn) {
            throw LogScan.damaged(storage, file(), offset, "a record durable after it was written", "the contrary");
        }
        if (isMark()) {
            return;
        }
        sequence = record.sequence(address);
        if (sequence <= sequenceLast) {
            throw LogScan.damaged(storage, file(), offset, "a sequence above " + sequenceLast, "sequence " + sequence);
        }
        sequenceLast = sequence;
        if (record.isBatch(address)) {
            int count = record.batchCount(address);
            int found = batch.count(record.batchPayload(address), record.batchPayloadLength(address));
            if (found != count || sequence + count < sequence) {
                throw LogScan.damaged(storage, file(), offset, "a batch of " + count, "one of " + found);
            }
            sequenceLast = Math.max(sequence, sequence + count - 1);
        }
    }

    private boolean openNext() {
        int following = current + 1;
        if (segments.get(following).header().index() != following) {
            return false;
        }
        close();
        current = following;
        LogScan.Segment segment = segments.get(current);
        mapped = storage.openMappedExisting(segment.file());
        if (mapped.length() != segment.header().segmentBytes()) {
            throw LogScan.damaged(
                    storage, segment.file(), 0, "the length seen before", "a file of " + mapped.length() + " bytes");
        }
        record = LogRecord.of(segment.header());
        durableLsn = Math.max(durableLsn, segment.header().durableLsn());
        next = LogLayout.HEADER_BYTES;
        return true;
    }

    /** Where the following segment says that this one's records end; beyond everything when there is none. */
    private long followingPreviousEnd() {
        int following = current + 1;
        return following < segments.size() && segments.get(following).header().index() == following
                ? segments.get(following).header().previousEnd()
                : Long.MAX_VALUE;
    }

    private boolean end() {
        ended = true;
        return false;
    }

    /** Whether the lane has later segments than the one it ended in, which then ended too early. */
    boolean isCutShort() {
        return current + 1 < segments.size();
    }

    /** Searches what lies behind the end of this lane for valid records; called once at the end. */
    TailSearch searchBehindEnd() {
        TailSearch search = new TailSearch(lsn);
        if (current >= 0) {
            search.search(file(), mapped, record, offset);
        }
        close();
        for (int i = current + 1; i < segments.size(); i++) {
            LogScan.Segment segment = segments.get(i);
            search.claim(segment.header().durableLsn());
            try (MappedFile later = storage.openMappedExisting(segment.file())) {
                search.search(segment.file(), later, LogRecord.of(segment.header()), LogLayout.HEADER_BYTES);
            }
        }
        return search;
    }

    /** The file of the current record, or the one in which the lane ended. */
    String file() {
        return segments.get(Math.max(current, 0)).file();
    }

    /** The offset of the current record, or the one at which the lane ended. */
    long offset() {
        return offset;
    }

    LogGeneration generation() {
        return generation;
    }

    /** Reads the fields of the current record. */
    LogRecord record() {
        return record;
    }

    /** The address of the current record, until the next call. */
    long address() {
        return mapped.address() + offset;
    }

    boolean isMark() {
        return record.isMark(address());
    }

    /** The bytes of the current record with its header, after {@link #next} has returned true. */
    long recordBytes() {
        return next - offset;
    }

    /** The LSN of the current record; at the end that of the last one, or the one before the generation's first. */
    long lsn() {
        return lsn;
    }

    long sequence() {
        return sequence;
    }

    /** The last sequence number that the current record takes. */
    long sequenceLast() {
        return sequenceLast;
    }

    /** The greatest LSN that a record or header so far calls durable. */
    long durableLsn() {
        return durableLsn;
    }

    @Override
    public void close() {
        if (mapped != null) {
            mapped.close();
            mapped = null;
        }
    }
}
