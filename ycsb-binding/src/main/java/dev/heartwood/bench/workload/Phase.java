package dev.heartwood.bench.workload;

import dev.heartwood.bench.workload.Requests.Distribution;
import java.util.Arrays;
import java.util.stream.Collectors;

/** One step of the benchmark. */
public enum Phase {
    /** Writes all records into a new store in hashed order. */
    LOAD("load", Extent.EVERY_RECORD, new Mix(0, 0, 100, 0, 0), Distribution.UNIFORM),
    /** Reads present keys, each as often as any other. */
    READ("read", Extent.TIMED, new Mix(100, 0, 0, 0, 0), Distribution.UNIFORM),
    /** Reads present keys by popularity. */
    ZIPF("zipf", Extent.TIMED, new Mix(100, 0, 0, 0, 0), Distribution.ZIPFIAN),
    /** Reads keys that are not there. */
    ABSENT("absent", Extent.TIMED, new Mix(100, 0, 0, 0, 0), Distribution.UNIFORM),
    /** Reads {@value #KEYS_AT_ONCE} present keys at once, each as often as any other; that is one operation. */
    MANY("many", Extent.TIMED, new Mix(100, 0, 0, 0, 0), Distribution.UNIFORM),
    /** Scans of 1 to 100 records. */
    SCAN("scan", Extent.TIMED, new Mix(0, 0, 0, 100, 0), Distribution.UNIFORM),
    /** Scans of 100,000 records. */
    SCANLONG("scanlong", Extent.TIMED, new Mix(0, 0, 0, 100, 0), Distribution.UNIFORM),
    /** YCSB A: half reads, half updates. */
    A("A", Extent.TIMED, new Mix(50, 50, 0, 0, 0), Distribution.ZIPFIAN),
    /** YCSB B: mostly reads. */
    B("B", Extent.TIMED, new Mix(95, 5, 0, 0, 0), Distribution.ZIPFIAN),
    /** YCSB C: reads only. */
    C("C", Extent.TIMED, new Mix(100, 0, 0, 0, 0), Distribution.ZIPFIAN),
    /** YCSB D: reads of the newest records, and inserts. */
    D("D", Extent.TIMED, new Mix(95, 0, 5, 0, 0), Distribution.LATEST),
    /** YCSB E: short scans, and inserts. */
    E("E", Extent.TIMED, new Mix(0, 0, 5, 95, 0), Distribution.ZIPFIAN),
    /** YCSB F: half reads, half reads followed by a write of the same record. */
    F("F", Extent.TIMED, new Mix(50, 0, 0, 0, 50), Distribution.ZIPFIAN),
    /** Writes all records into a new store in key order; the other phases' data stays as it was. */
    SEQUENTIAL("sequential", Extent.EVERY_RECORD, new Mix(0, 0, 100, 0, 0), Distribution.UNIFORM),
    /** As {@link #SEQUENTIAL}, but one record of ten has a key in hashed order. */
    SEQUENTIAL90("sequential90", Extent.EVERY_RECORD, new Mix(0, 0, 100, 0, 0), Distribution.UNIFORM),
    /** As {@link #SEQUENTIAL}, but half of the records have keys in hashed order. */
    SEQUENTIAL50("sequential50", Extent.EVERY_RECORD, new Mix(0, 0, 100, 0, 0), Distribution.UNIFORM),
    /** Writes every record once more, in an order that has nothing to do with that of the load. */
    OVERWRITE("overwrite", Extent.EVERY_RECORD, new Mix(0, 100, 0, 0, 0), Distribution.UNIFORM),
    /** Each thread has a queue in a new store: it takes the first of a thousand records, which is to scan and delete, and puts one more at the end. */
    QUEUE("queue", Extent.TIMED, new Mix(0, 0, 0, 0, 0), Distribution.UNIFORM),
    /** Asks nothing of the store. */
    IDLE("idle", Extent.TIMED, new Mix(0, 0, 0, 0, 0), Distribution.UNIFORM);

    /** When a phase is over. */
    public enum Extent {
        /** When its time is up. */
        TIMED,
        /** When it has been once through the records. */
        EVERY_RECORD
    }

    /**
     * Operations in a hundred, by kind; all 0 when there are none of these.
     *
     * @param reads point reads
     * @param updates writes of present records
     * @param inserts writes of new records
     * @param scans range scans
     * @param readModifyWrites reads followed by a write of the same record, counted as one operation
     */
    public record Mix(int reads, int updates, int inserts, int scans, int readModifyWrites) {
        /** Refuses shares that do not make a hundred. */
        public Mix {
            int sum = reads + updates + inserts + scans + readModifyWrites;
            if (sum != 100 && sum != 0) {
                throw new IllegalArgumentException("shares do not sum to 100");
            }
        }

        /** Whether anything is written. */
        public boolean writes() {
            return updates + inserts + readModifyWrites > 0;
        }
    }

    /** The keys of one read of many. */
    public static final int KEYS_AT_ONCE = 32;

    private static final int SHORT_SCAN_RECORDS_MAX = 100;
    private static final int LONG_SCAN_RECORDS = 100_000;

    /** All of a hundred. */
    private static final int HASHED = 100;

    private final String text;
    private final Extent extent;
    private final Mix mix;
    private final Distribution distribution;

    Phase(String text, Extent extent, Mix mix, Distribution distribution) {
        this.text = text;
        this.extent = extent;
        this.mix = mix;
        this.distribution = distribution;
    }

    /** When it is over. */
    public Extent extent() {
        return extent;
    }

    /** What it does. */
    public Mix mix() {
        return mix;
    }

    /** Which records it asks for. */
    public Distribution distribution() {
        return distribution;
    }

    /** Whether it needs the order of keys. */
    public boolean scans() {
        return this == QUEUE || mix.scans() > 0;
    }

    /** The longest scan of its mix; short ones are of any length up to that, long ones of that length. */
    public int scanRecordsMax() {
        return this == SCANLONG ? LONG_SCAN_RECORDS : SHORT_SCAN_RECORDS_MAX;
    }

    /** Whether it writes anything. */
    public boolean writes() {
        return this == QUEUE || mix.writes();
    }

    /** Whether it starts from an empty store. */
    public boolean startsEmpty() {
        return this == LOAD || hasOwnRecords();
    }

    /** Whether it writes to a store of its own, which no other phase reads. */
    public boolean hasOwnRecords() {
        return this == QUEUE || hashedPercent() < HASHED;
    }

    /** Of a hundred records that it writes, how many have a key in hashed order, on average; the others are in key order. */
    public int hashedPercent() {
        return switch (this) {
            case SEQUENTIAL -> 0;
            case SEQUENTIAL90 -> 10;
            case SEQUENTIAL50 -> 50;
            default -> HASHED;
        };
    }

    /** Whether it needs the records of {@link #LOAD}. */
    public boolean needsRecords() {
        return !startsEmpty();
    }

    /**
     * The phase of a name, in any case.
     *
     * @throws IllegalArgumentException when there is none
     */
    public static Phase parse(String text) {
        return Arrays.stream(values())
                .filter(p -> p.text.equalsIgnoreCase(text.strip()))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no phase '" + text + "'; there are "
                        + Arrays.stream(values()).map(Phase::toString).collect(Collectors.joining(", "))));
    }

    @Override
    public String toString() {
        return text;
    }
}
