package dev.heartwood.engine.log;

import dev.heartwood.engine.device.Storage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;

/** The segments of one generation as a directory holds them, by lane. One thread. */
final class LoggedGeneration {
    private final Storage storage;
    private final LogGeneration header;
    private final TreeMap<Integer, List<LogScan.Segment>> lanes = new TreeMap<>();

    LoggedGeneration(Storage storage, LogGeneration header) {
        this.storage = storage;
        this.header = header;
    }

    /** Takes a segment of this generation, which must agree with the others and not be there twice. */
    void add(LogScan.Segment segment) {
        SegmentHeader added = segment.header();
        if (!added.generation().equals(header)) {
            throw LogScan.damaged(
                    storage, segment.file(), 0, header.toString(), added.generation().toString());
        }
        List<LogScan.Segment> lane = lanes.computeIfAbsent(added.lane(), n -> new ArrayList<>());
        for (LogScan.Segment other : lane) {
            if (other.header().index() == added.index()) {
                throw LogScan.damaged(storage, segment.file(), 0, "a segment not yet seen", "the same as in " + other.file());
            }
        }
        lane.add(segment);
        lane.sort(Comparator.comparingLong(s -> s.header().index()));
    }

    LogGeneration header() {
        return header;
    }

    /** Whether the segment with an index of a lane is there. */
    boolean holds(int lane, long index) {
        return lanes.getOrDefault(lane, List.of()).stream()
                .anyMatch(segment -> segment.header().index() == index);
    }

    /** The segments of each lane that has any, in order. */
    Iterable<List<LogScan.Segment>> lanes() {
        return lanes.values();
    }

    String anyFile() {
        return lanes.firstEntry().getValue().getFirst().file();
    }
}
