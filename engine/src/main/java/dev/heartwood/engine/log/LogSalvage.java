package dev.heartwood.engine.log;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * Delivers what can be read of a log, also of one that recovery refuses. A sound log is replayed as recovery replays it. Of a
 * damaged one every record with a valid checksum counts that no recovery made void, in the order of sequences within a generation;
 * batches are whole all the same, being single records. Changes nothing. One thread.
 */
public final class LogSalvage {
    private final Storage storage;
    private final ReplaySink sink;
    private final Consumer<String> lost;
    private final BatchPayload batch = new BatchPayload();

    private LogSalvage(Storage storage, ReplaySink sink, Consumer<String> lost) {
        this.storage = storage;
        this.sink = sink;
        this.lost = lost;
    }

    /**
     * Delivers the records of the generations after the checkpoint's; {@code lost} is told of what cannot be read. Which keys that
     * had is not known.
     */
    public static void run(
            Storage storage, long storeId, long checkpointGeneration, ReplaySink sink, Consumer<String> lost) {
        LogScan scan = new LogScan(storage, storeId, checkpointGeneration);
        LogSalvage salvage = new LogSalvage(storage, sink, lost);
        LogSurvey survey;
        try {
            scan.run();
            survey = new LogSurvey(storage, scan, checkpointGeneration);
            survey.run();
        } catch (InsufficientMemoryException e) {
            throw e; // which says nothing of the log
        } catch (StoreException damage) {
            salvage.deliverPastDamage(damage, new LogScan(storage, storeId, checkpointGeneration));
            return;
        }
        new LogReplay(storage, sink).run(survey);
    }

    private void deliverPastDamage(StoreException first, LogScan scan) {
        Set<String> damage = new LinkedHashSet<>(List.of(first.getMessage()));
        scan.runPastDamage(e -> damage.add(e.getMessage()));
        damage.forEach(line -> lost.accept("log: " + line));
        for (LoggedGeneration generation : scan.generations()) {
            deliver(generation, lsnLimit(generation, scan.generations()));
        }
    }

    /** Where records of a generation are void from on, as the headers of later lives say. */
    private static long lsnLimit(LoggedGeneration generation, List<LoggedGeneration> all) {
        long limit = Long.MAX_VALUE;
        for (LoggedGeneration other : all) {
            LogLife life = other.header().life();
            boolean isLater = life.number() > generation.header().life().number();
            limit = isLater ? Math.min(limit, life.firstLsn()) : limit;
        }
        return limit;
    }

    /**
     * Delivers a log of which it is not known how many generations the tree holds: all from the first on behind which nothing is
     * missing. What the tree holds of them already comes to the same, as everything younger follows, but for writes that no log has: the {@code
     * sink} has to compare them. Operands do not come to the same, and it has to leave them out. {@code lost} is told when the log's end
     * cannot be told, or when there is no such generation: what is there may then be older than the tree, and nothing is delivered.
     */
    public static void runWithoutCheckpoint(Storage storage, long storeId, ReplaySink sink, Consumer<String> lost) {
        String why = "the system has restarted since, or nothing tells which segments were the last";
        TreeSet<Long> candidates = new TreeSet<>();
        if (LaneClaims.areExact(storage, new LogScan(storage, storeId, 0).bootId(), storeId)) {
            candidates.add(0L);
        }
        while (!candidates.isEmpty()) {
            long held = candidates.pollFirst();
            LogScan scan = new LogScan(storage, storeId, held);
            LogSurvey survey;
            try {
                scan.run();
                survey = new LogSurvey(storage, scan, held);
                survey.run();
            } catch (InsufficientMemoryException e) {
                throw e;
            } catch (StoreException damage) {
                why = damage.getMessage();
                for (LoggedGeneration later : scan.generations()) {
                    candidates.add(later.header().previousNumber());
                }
                candidates.headSet(held, true).clear();
                continue;
            }
            new LogReplay(storage, sink).run(survey);
            return;
        }
        lost.accept("log: all of it, as it cannot be told what of it the tree does not hold: " + why);
    }

    private void deliver(LoggedGeneration generation, long lsnLimit) {
        List<Lane> lanes = new ArrayList<>();
        try {
            for (List<LogScan.Segment> segments : generation.lanes()) {
                lanes.add(new Lane(segments, lsnLimit));
            }
            lanes.removeIf(lane -> !lane.next());
            while (!lanes.isEmpty()) {
                Lane least = lanes.getFirst();
                for (Lane lane : lanes) {
                    least = lane.sequence() < least.sequence() ? lane : least;
                }
                deliver(least.record, least.address());
                if (!least.next()) {
                    lanes.remove(least);
                }
            }
        } finally {
            lanes.forEach(Lane::close);
        }
    }

    private void deliver(LogRecord record, long address) {
        long sequence = record.sequence(address);
        if (!record.isBatch(address)) {
            long key = record.key(address);
            int keyLength = record.keyLength(address);
            int valueLength = record.valueLength(address);
            sink.entry(sequence, (byte) record.kind(address), key, keyLength, key + keyLength, valueLength);
            return;
        }
        int count = record.batchCount(address);
        sink.beginBatch(sequence, count);
        batch.reset(record.batchPayload(address), record.batchPayloadLength(address));
        for (int i = 0; batch.next(); i++) {
            sink.entry(
                    sequence + i, batch.kind, batch.keyAddress, batch.keyLength, batch.valueAddress, batch.valueLength);
        }
        sink.endBatch();
    }

    /** The valid records of one lane, whatever lies between them. */
    private final class Lane implements AutoCloseable {
        private final List<LogScan.Segment> segments;
        private final long lsnLimit;
        private int current = -1;
        private MappedFile mapped;
        private LogRecord record;
        private RecordSums sums;
        private long at;
        private long next;
        private long lsn;

        Lane(List<LogScan.Segment> segments, long lsnLimit) {
            this.segments = segments;
            this.lsnLimit = lsnLimit;
        }

        /** Moves to the next record that is not a mark, nor void, as all behind a void one are. */
        boolean next() {
            while (mapped != null || openNext()) {
                if (findInSegment()) {
                    next = at + record.step(address());
                    lsn = record.lsn(address());
                    if (lsn >= lsnLimit) {
                        close();
                        return false;
                    }
                    if (!record.isMark(address())) {
                        return true;
                    }
                } else {
                    tellUnread();
                    close();
                }
            }
            return false;
        }

        /** Tells what of the segment could not be read, unless the next one says that no record lay there. */
        private void tellUnread() {
            long end = mapped.length();
            if (current + 1 < segments.size()) {
                SegmentHeader following = segments.get(current + 1).header();
                boolean isNext = following.index() == segments.get(current).header().index() + 1;
                end = isNext ? following.previousEnd() : end;
            }
            if (mapped.windowEnd() < end) {
                lost.accept("log: " + LogScan.unread(mapped).getMessage());
            }
        }

        private boolean findInSegment() {
            long end = mapped.windowEnd();
            for (at = next; at + record.headerMin() <= end; at += record.alignment()) {
                if (record.isPlausible(address(), end - at)
                        && record.lsn(address()) > lsn
                        && record.isIntact(address(), sums)) {
                    if (at > next) {
                        lost.accept("log: " + (at - next) + " bytes at offset " + next + " of " + segments.get(current).file()
                                + ", before the record with LSN " + record.lsn(address()));
                    }
                    return true;
                }
            }
            return false;
        }

        private boolean openNext() {
            while (current + 1 < segments.size()) {
                LogScan.Segment segment = segments.get(++current);
                try {
                    mapped = storage.openMappedExisting(segment.file());
                    record = LogRecord.of(segment.header());
                    sums = new RecordSums(mapped.address());
                    next = LogLayout.HEADER_BYTES;
                    return true;
                } catch (InsufficientMemoryException e) {
                    throw e;
                } catch (StoreException e) {
                    lost.accept("log: " + e.getMessage());
                }
            }
            return false;
        }

        long address() {
            return mapped.address() + at;
        }

        long sequence() {
            return record.sequence(address());
        }

        @Override
        public void close() {
            if (mapped != null) {
                mapped.close();
                mapped = null;
            }
        }
    }
}
