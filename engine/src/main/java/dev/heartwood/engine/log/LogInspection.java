package dev.heartwood.engine.log;

import dev.heartwood.FormatTooNewException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.device.Storage;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The log of a store that is not open, as recovery would find it.
 *
 * @param files the segment files, by name
 * @param replay what the next open replays; null when the log is damaged
 * @param problems one line each; empty when the log can be replayed
 */
public record LogInspection(List<SegmentFile> files, ReplaySummary replay, List<String> problems) {
    /** What a segment file is to the next recovery. */
    public enum State {
        /** Holds records newer than the checkpoint. */
        LIVE,
        /** Holds nothing that is still needed; will be used again. */
        SPARE,
        /** A loss of power left its header torn; will be deleted. */
        UNREADABLE,
        /** Not told, as the log is damaged. */
        UNKNOWN
    }

    /** A file of the log; generation and lane are -1 unless it is live. */
    public record SegmentFile(String name, long bytes, State state, long generation, int lane) {}

    /**
     * Reads the whole log and changes nothing. To be called with the store's lock held.
     *
     * @param checkpointGeneration the last generation that the checkpoint holds
     * @throws FormatTooNewException when a newer version wrote it
     * @throws InsufficientMemoryException when there is no memory, or no mapping, to read it with, which is no damage
     */
    public static LogInspection of(Storage storage, long storeId, long checkpointGeneration) {
        List<String> problems = new ArrayList<>();
        LogScan scan = new LogScan(storage, storeId, checkpointGeneration);
        ReplaySummary replay = null;
        try {
            scan.run();
            replay = replay(storage, scan, checkpointGeneration);
        } catch (FormatTooNewException | InsufficientMemoryException e) {
            throw e; // which says nothing of the log
        } catch (StoreException e) {
            problems.add(e.getMessage());
        }
        return new LogInspection(files(storage, scan), replay, problems);
    }

    private static ReplaySummary replay(Storage storage, LogScan scan, long checkpointGeneration) {
        LogSurvey survey = new LogSurvey(storage, scan, checkpointGeneration);
        survey.run();
        LogReplay replay = new LogReplay(storage, new Unheeding());
        replay.run(survey);
        return replay.summary(scan, survey);
    }

    private static List<SegmentFile> files(Storage storage, LogScan scan) {
        Map<String, SegmentFile> known = new HashMap<>();
        for (LoggedGeneration generation : scan.generations()) {
            for (List<LogScan.Segment> lane : generation.lanes()) {
                for (LogScan.Segment s : lane) {
                    SegmentHeader header = s.header();
                    long number = header.generation().number();
                    known.put(s.file(), new SegmentFile(s.file(), header.segmentBytes(), State.LIVE, number, header.lane()));
                }
            }
        }
        scan.spares().forEach(s -> known.put(s.file(), new SegmentFile(s.file(), s.bytes(), State.SPARE, -1, -1)));
        scan.unreadable().forEach(s -> known.put(s.file(), new SegmentFile(s.file(), s.bytes(), State.UNREADABLE, -1, -1)));
        List<SegmentFile> files = new ArrayList<>();
        for (String name : storage.list()) {
            if (SegmentName.number(name) >= 0) {
                SegmentFile file = known.get(name);
                files.add(file != null ? file : new SegmentFile(name, storage.size(name), State.UNKNOWN, -1, -1));
            }
        }
        return files;
    }

    /** Takes entries and does nothing with them: they are counted where they come from. */
    private static final class Unheeding implements ReplaySink {
        @Override
        public void beginGeneration(long generation) {}

        @Override
        public void beginBatch(long sequence, int count) {}

        @Override
        public void entry(
                long sequence, byte kind, long keyAddress, int keyLength, long valueAddress, int valueLength) {}

        @Override
        public void endBatch() {}
    }
}
