package dev.heartwood.engine.log;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.device.Storage;

/** Delivers what the survey found. One thread. */
final class LogReplay {
    private final Storage storage;
    private final ReplaySink sink;
    private final BatchPayload batch = new BatchPayload();
    private long records;
    private long entries;
    private long lastSequence;

    LogReplay(Storage storage, ReplaySink sink) {
        this.storage = storage;
        this.sink = sink;
    }

    void run(LogSurvey survey) {
        for (LogSurvey.Part part : survey.parts()) {
            try (LaneMerge merge = new LaneMerge(storage, part.generation(), LaneMerge.Order.SEQUENCE)) {
                LaneReader lane = merge.next(part.lsnLimit());
                if (lane != null) {
                    sink.beginGeneration(lane.generation().number());
                }
                for (; lane != null; lane = merge.next(part.lsnLimit())) {
                    deliver(lane);
                }
            }
        }
    }

    private void deliver(LaneReader lane) {
        long address = lane.address();
        records++;
        lastSequence = Math.max(lastSequence, lane.sequenceLast());
        LogRecord record = lane.record();
        if (record.isBatch(address)) {
            deliverBatch(record, address, lane.sequence());
            return;
        }
        entries++;
        byte kind = (byte) record.kind(address);
        assert Entries.isKind(kind);
        long key = record.key(address);
        int keyLength = record.keyLength(address);
        sink.entry(lane.sequence(), kind, key, keyLength, key + keyLength, record.valueLength(address));
    }

    private void deliverBatch(LogRecord record, long address, long sequence) {
        int count = record.batchCount(address);
        entries += count;
        sink.beginBatch(sequence, count);
        batch.reset(record.batchPayload(address), record.batchPayloadLength(address));
        for (int i = 0; i < count; i++) {
            boolean isEntry = batch.next();
            assert isEntry;
            sink.entry(
                    sequence + i, batch.kind, batch.keyAddress, batch.keyLength, batch.valueAddress, batch.valueLength);
        }
        sink.endBatch();
    }

    /** What was delivered and how the log ended. */
    ReplaySummary summary(LogScan scan, LogSurvey survey) {
        ReplaySummary.Ending ending = scan.generations().isEmpty()
                ? ReplaySummary.Ending.EMPTY
                : survey.isCut()
                        ? ReplaySummary.Ending.FIRST_GAP
                        : survey.lost() > 0 ? ReplaySummary.Ending.TORN_TAILS : ReplaySummary.Ending.COMPLETE;
        int generations = scan.generations().size();
        return new ReplaySummary(records, entries, lastSequence, scan.lastGeneration(), generations, survey.lost(), ending);
    }
}
