package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.ToLongFunction;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.kstream.internals.SessionWindow;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.SessionStore;
import org.apache.kafka.streams.state.WindowStore;
import org.apache.kafka.streams.state.internals.SessionKeySchema;
import org.apache.kafka.streams.state.internals.WindowKeySchema;

/**
 * The lives of a window or session store under exactly-once: what each life does to it at random, and what it must show. A life ends
 * somewhere after its last commit, and the next one begins with what that commit left. As a process it lives one life and dies of it.
 */
final class StoreLives {
    /** How the process ends when the store was right. */
    static final int DEAD = 77;

    private static final Duration RETENTION = Duration.ofMinutes(2);
    private static final long SEGMENT_MILLIS = 60_000;
    private static final long BEGIN = 100 * SEGMENT_MILLIS;
    private static final int KEYS = 30;
    private static final int BURST = 100;

    private final Kind kind;
    private final SplittableRandom random;
    private Map<Entry, Bytes> data = new HashMap<>();
    /** By this whole segments expire; it outlives the store, until a record is taken that had expired. */
    private long streamTime = -1;
    /** The time of this life alone, by which records are hidden and too late. */
    private long observedTime = -1;
    private long offset;
    private Commit committed = new Commit(Map.of(), -1, -1);
    private Commit waiting;
    private boolean processed;
    private long now;

    /** A key with the start of its window, or the end of its session. */
    record Entry(Bytes key, long time) implements Comparable<Entry> {
        @Override
        public int compareTo(Entry other) {
            int byTime = Long.compare(time, other.time);
            return byTime != 0 ? byTime : key.compareTo(other.key);
        }
    }

    /** What a commit left. */
    private record Commit(Map<Entry, Bytes> data, long streamTime, long offset) {}

    /** How a life ends. */
    enum Ending {
        /** The store is closed. */
        CLOSED,
        /** The process ends without that. */
        DEATH,
        /** The process ends without that, after it has processed a record. */
        DEATH_AT_WORK
    }

    /** A kind of store whose records expire. */
    enum Kind {
        WINDOW {
            @Override
            StateStore store() {
                return HeartwoodStores.persistentWindowStore("lives", RETENTION, Duration.ofSeconds(10), false)
                        .get();
            }

            @Override
            @SuppressWarnings("unchecked")
            void put(StateStore store, Entry entry, byte[] value) {
                ((WindowStore<Bytes, byte[]>) store).put(entry.key(), value, entry.time());
            }

            @Override
            byte[] changelogKey(Entry entry) {
                return WindowKeySchema.toStoreKeyBinary(entry.key(), entry.time(), 0).get();
            }

            @Override
            @SuppressWarnings("unchecked")
            Map<Entry, Bytes> shown(StateStore store) {
                return entries(((WindowStore<Bytes, byte[]>) store).all(), window -> window.window().start());
            }
        },
        SESSION {
            @Override
            StateStore store() {
                return HeartwoodStores.persistentSessionStore("lives", RETENTION).get();
            }

            private Windowed<Bytes> session(Entry entry) {
                return new Windowed<>(entry.key(), new SessionWindow(entry.time() - 5, entry.time()));
            }

            @Override
            @SuppressWarnings("unchecked")
            void put(StateStore store, Entry entry, byte[] value) {
                ((SessionStore<Bytes, byte[]>) store).put(session(entry), value);
            }

            @Override
            byte[] changelogKey(Entry entry) {
                return SessionKeySchema.toBinary(session(entry)).get();
            }

            @Override
            @SuppressWarnings("unchecked")
            Map<Entry, Bytes> shown(StateStore store) {
                return entries(
                        ((SessionStore<Bytes, byte[]>) store).findSessions(null, null, 0, Long.MAX_VALUE),
                        session -> session.window().end());
            }
        };

        abstract StateStore store();

        abstract void put(StateStore store, Entry entry, byte[] value);

        abstract byte[] changelogKey(Entry entry);

        abstract Map<Entry, Bytes> shown(StateStore store);

        private static Map<Entry, Bytes> entries(
                KeyValueIterator<Windowed<Bytes>, byte[]> found, ToLongFunction<Windowed<Bytes>> time) {
            Map<Entry, Bytes> entries = new TreeMap<>();
            try (found) {
                found.forEachRemaining(entry -> entries.put(
                        new Entry(entry.key.key(), time.applyAsLong(entry.key)), Bytes.wrap(entry.value)));
            }
            return entries;
        }
    }

    /** A store that is open, to be lived with; its context restores. */
    record Opened(StoreContext context, StateStore store) {}

    StoreLives(Kind kind, long seed) {
        this.kind = kind;
        random = new SplittableRandom(seed);
        now = BEGIN;
    }

    /** Opens the store in a task's directory. */
    Opened open(Path directory, long seed) {
        return open(new StoreContext(directory, configs(seed)));
    }

    /** Opens the store on a machine that is simulated. */
    Opened open(SimulatedMachine machine, Path directory, long seed) {
        return open(StoreContext.on(machine, directory, configs(seed)));
    }

    private Opened open(StoreContext context) {
        return new Opened(context, context.open(kind.store()));
    }

    /** Some seeds have many checkpoints, and some almost none. */
    private static Map<String, String> configs(long seed) {
        return Map.of(
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2,
                HeartwoodStoreConfig.MEMTABLE_BYTES, "64k",
                HeartwoodStoreConfig.CHECKPOINT_DISTANCE, seed % 2 == 0 ? "1" : "64");
    }

    /** Arguments: the task's directory, the kind, the seed, and how many lives there were before. */
    public static void main(String[] arguments) {
        long seed = Long.parseLong(arguments[2]);
        StoreLives lives = new StoreLives(Kind.valueOf(arguments[1]), seed);
        for (int life = 0; life < Integer.parseInt(arguments[3]); life++) {
            lives.live(null, Ending.DEATH);
        }
        Opened opened = lives.open(Path.of(arguments[0]), seed);
        lives.check(opened.store());
        lives.live(opened, Ending.DEATH);
        Runtime.getRuntime().halt(DEAD);
    }

    /** Lives one life, with a store or without, up to its ending, which is the caller's, and goes back to what the last commit left. */
    void live(Opened opened, Ending ending) {
        for (int deeds = random.nextInt(25); deeds > 0; deeds--) {
            switch (random.nextInt(12)) {
                case 0 -> commit(opened);
                case 1 -> {
                    if (opened != null) {
                        table(opened.store()).settle();
                    }
                }
                case 2 -> {
                    restore(opened);
                    commit(opened);
                }
                default -> write(opened);
            }
        }
        if (opened != null) {
            assertShown(opened.store());
        }
        if (ending == Ending.DEATH_AT_WORK) {
            kind.put(opened.store(), new Entry(Bytes.wrap("key0".getBytes()), 2 * now), new byte[1]);
        }
        if (ending != Ending.DEATH) {
            finishCommit();
        }
        waiting = null;
        processed = false;
        data = new HashMap<>(committed.data());
        streamTime = committed.streamTime();
        observedTime = -1;
        offset = committed.offset();
        now = Math.max(BEGIN, streamTime) + random.nextLong(SEGMENT_MILLIS);
    }

    /** What comes after a commit of what was processed makes it one that lasts. */
    private void finishCommit() {
        if (waiting != null) {
            committed = waiting;
            waiting = null;
        }
    }

    private static StateTable table(StateStore store) {
        return ((TableStore) store).table();
    }

    /** What Kafka Streams finds when it has opened the store. */
    void check(StateStore store) {
        Long found = ((TableStore) store).committedOffset(StoreContext.CHANGELOG);
        assertEquals(committed.offset() < 0 ? null : committed.offset(), found);
        assertEquals(committed.streamTime(), table(store).streamTime());
        assertEquals(-1, table(store).observedTime());
        assertShown(store);
    }

    private void assertShown(StateStore store) {
        Map<Entry, Bytes> live = new TreeMap<>();
        data.forEach((entry, value) -> {
            if (isLive(entry) && entry.time() >= keptFrom(streamTime)) {
                live.put(entry, value);
            }
        });
        assertEquals(live, kind.shown(store));
    }

    private boolean isLive(Entry entry) {
        return observedTime < 0 || entry.time() > observedTime - RETENTION.toMillis();
    }

    /** The begin of the first segment that has not expired as a whole by a time. */
    private static long keptFrom(long time) {
        return Math.max(0, time - RETENTION.toMillis()) / SEGMENT_MILLIS * SEGMENT_MILLIS;
    }

    private void observe(Entry entry) {
        observedTime = Math.max(observedTime, entry.time());
        streamTime = Math.max(streamTime, observedTime);
    }

    /** A record is taken that had expired before this life: what else had is gone, and the last commit says so. */
    private void forgetEarlierTime() {
        long from = keptFrom(streamTime);
        finishCommit();
        data.keySet().removeIf(entry -> entry.time() < from);
        Map<Entry, Bytes> left = new HashMap<>(committed.data());
        left.keySet().removeIf(entry -> entry.time() < from);
        streamTime = observedTime;
        committed = new Commit(Map.copyOf(left), streamTime, committed.offset());
    }

    private void commit(Opened opened) {
        finishCommit();
        offset++;
        waiting = new Commit(Map.copyOf(data), streamTime, offset);
        if (!processed) {
            finishCommit();
        }
        processed = false;
        if (opened != null) {
            opened.store().commit(Map.of(StoreContext.CHANGELOG, offset));
        }
    }

    /** Records in and out of order, some too late, some at the edges of segments. */
    private List<KeyValue<Entry, byte[]>> records() {
        now += random.nextInt(12) == 0 ? 2 * RETENTION.toMillis() : random.nextLong(SEGMENT_MILLIS / 2);
        List<KeyValue<Entry, byte[]>> records = new ArrayList<>();
        for (int i = 0; i < BURST; i++) {
            long time = now - (random.nextBoolean() ? 0 : random.nextLong(RETENTION.toMillis() * 5 / 4));
            if (random.nextInt(3) == 0) {
                time = time / SEGMENT_MILLIS * SEGMENT_MILLIS - random.nextInt(2);
            }
            Bytes key = Bytes.wrap(("key" + random.nextInt(KEYS)).getBytes());
            byte[] value = random.nextInt(8) == 0 ? null : (time + "/" + random.nextLong() + "v".repeat(150)).getBytes();
            records.add(KeyValue.pair(new Entry(key, time), value));
        }
        return records;
    }

    private void write(Opened opened) {
        finishCommit();
        processed = true;
        for (KeyValue<Entry, byte[]> record : records()) {
            observe(record.key);
            set(record);
            if (opened != null) {
                kind.put(opened.store(), record.key, record.value);
            }
        }
    }

    private void set(KeyValue<Entry, byte[]> record) {
        if (record.key.time() < keptFrom(observedTime)) {
            return;
        }
        if (record.key.time() < keptFrom(streamTime)) {
            forgetEarlierTime();
        }
        if (record.value == null) {
            data.remove(record.key);
        } else {
            data.put(record.key, Bytes.wrap(record.value));
        }
    }

    private void restore(Opened opened) {
        finishCommit();
        List<KeyValue<Entry, byte[]>> records = records();
        records.forEach(record -> observe(record.key));
        records.forEach(this::set);
        if (opened != null) {
            List<KeyValue<byte[], byte[]>> changelog = new ArrayList<>();
            records.forEach(record -> changelog.add(KeyValue.pair(kind.changelogKey(record.key), record.value)));
            opened.context().streams().restore(opened.store().name(), changelog);
        }
    }
}
