package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.state.internals.WindowKeySchema;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows and sessions that expire, are lost with the process, and are there again as the last commit had them. */
class RolledBackExpiryTest {
    private static final long RETENTION = 600_000;
    private static final long SEGMENT = RETENTION / 2;
    private static final int KEYS = 1_000;

    /** A context of a store whose data is packed soon, and whose checkpoints are those that are asked for. */
    private static StoreContext context(Path directory) {
        return new StoreContext(
                directory,
                Map.of(
                        StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2,
                        HeartwoodStoreConfig.MEMTABLE_BYTES, "64k",
                        HeartwoodStoreConfig.CHECKPOINT_DISTANCE, "1024"));
    }

    private static HeartwoodWindowStore windows() {
        return (HeartwoodWindowStore) HeartwoodStores.persistentWindowStore(
                        "windows", Duration.ofMillis(RETENTION), Duration.ofSeconds(10), false)
                .get();
    }

    private static HeartwoodWindowStore open(Path directory) {
        return context(directory).open(windows());
    }

    private static Bytes key(int number) {
        return Bytes.wrap(("key" + number).getBytes());
    }

    private static void writeAll(HeartwoodWindowStore store, long time) {
        for (int i = 0; i < KEYS; i++) {
            store.put(key(i), new byte[200], time);
        }
    }

    private static int count(HeartwoodWindowStore store, long time) {
        int found = 0;
        for (int i = 0; i < KEYS; i++) {
            found += store.fetch(key(i), time) == null ? 0 : 1;
        }
        return found;
    }

    private static void commit(HeartwoodWindowStore store, long offset) {
        store.commit(Map.of(StoreContext.CHANGELOG, offset));
    }

    /** Each life ends with a close without a commit, which leaves everything on the disk. */
    @ParameterizedTest
    @EnumSource
    void aStoreThatWasClosedIsAsItWasCommitted(StoreLives.Kind kind) {
        Campaign.run(getClass(), 6, seed -> {
            try (TestDirectory directory = new TestDirectory("lives")) {
                StoreLives lives = new StoreLives(kind, seed);
                for (int life = 0; life < 8; life++) {
                    StoreLives.Opened opened = lives.open(directory.path(), seed);
                    try {
                        lives.check(opened.store());
                        lives.live(opened, StoreLives.Ending.CLOSED);
                    } finally {
                        opened.store().close();
                    }
                }
            }
        });
    }

    /** Each life ends with its process, so that what was dropped since the last checkpoint is there again when the log is replayed. */
    @ParameterizedTest
    @EnumSource
    void aStoreWhoseProcessDiedIsAsItWasCommitted(StoreLives.Kind kind) {
        Campaign.run(getClass(), 2, seed -> {
            try (TestDirectory directory = new TestDirectory("lives")) {
                StoreLives lives = new StoreLives(kind, seed);
                for (int life = 0; life < 4; life++) {
                    die(directory, StoreLives.class, kind.name(), Long.toString(seed), Integer.toString(life));
                    lives.live(null, StoreLives.Ending.DEATH);
                }
                StoreLives.Opened opened = lives.open(task(directory), seed);
                try {
                    lives.check(opened.store());
                } finally {
                    opened.store().close();
                }
            }
        });
    }

    /** Runs a process to the death that it chose; its first argument is the task's directory. */
    private static void die(TestDirectory directory, Class<?> main, String... arguments) {
        String[] all = new String[1 + arguments.length];
        all[0] = task(directory).toString();
        System.arraycopy(arguments, 0, all, 1, arguments.length);
        JavaProcess.Ended ended =
                JavaProcess.of(main, all).flags("-Xmx300m").run(directory.path().resolve("output"));
        assertEquals(StoreLives.DEAD, ended.exit(), ended::output);
    }

    private static Path task(TestDirectory directory) {
        return directory.path().resolve("task");
    }

    /** Opens, which goes back to the last commit, commits a record of the same time as what was lost, and dies. */
    static final class Successor {
        private Successor() {}

        public static void main(String[] arguments) {
            HeartwoodWindowStore store = open(Path.of(arguments[0]));
            store.put(key(KEYS), new byte[1], 2 * SEGMENT + 19);
            commit(store, 2);
            commit(store, 2); // finishes the first
            Runtime.getRuntime().halt(StoreLives.DEAD);
        }
    }

    /** What going back had removed by reference came back with the log's replay, and passed for data of the next commit. */
    @Test
    void whatWasRemovedStaysAwayWhenTheProcessDiesAfterTheNextCommit() {
        try (TestDirectory directory = new TestDirectory("successor")) {
            HeartwoodWindowStore store = open(task(directory));
            writeAll(store, SEGMENT);
            commit(store, 1);
            for (int i = 0; i < 20; i++) {
                writeAll(store, 2 * SEGMENT + i);
            }
            store.table().settle();
            store.close();

            die(directory, Successor.class);
            store = open(task(directory));
            assertEquals(KEYS, count(store, SEGMENT));
            for (int i = 0; i < 20; i++) {
                assertEquals(0, count(store, 2 * SEGMENT + i));
            }
            assertNotNull(store.fetch(key(KEYS), 2 * SEGMENT + 19));
            store.close();
        }
    }

    /** The last record of the commit lies at an end of its segment: what the segment has stays, and the next one goes. */
    @ParameterizedTest
    @ValueSource(longs = {4 * RETENTION - 1, 4 * RETENTION, 4 * RETENTION + 1})
    void theSegmentOfTheLastRecordIsNotNew(long last) {
        try (TestDirectory directory = new TestDirectory("edge")) {
            HeartwoodWindowStore store = open(task(directory));
            writeAll(store, last - SEGMENT);
            writeAll(store, last);
            commit(store, 1);
            long next = (last / SEGMENT + 1) * SEGMENT;
            for (int i = 0; i < KEYS; i++) {
                store.put(key(i), null, last);
            }
            writeAll(store, next - 1); // the same time again, or later in the same segment
            writeAll(store, next);
            writeAll(store, last - 1); // late, and before the last record
            writeAll(store, last + 3 * RETENTION);
            store.table().settle();
            assertEquals(0, count(store, last));
            store.close();

            store = open(task(directory));
            assertEquals(KEYS, count(store, last - SEGMENT));
            assertEquals(KEYS, count(store, last));
            assertEquals(last == next - 1 ? KEYS : 0, count(store, next - 1));
            assertEquals(0, count(store, next));
            assertEquals(0, count(store, last - 1));
            assertEquals(0, count(store, last + 3 * RETENTION));
            store.close();
        }
    }

    /** What was restored after the last commit has no way back. It is restored again, onto what is left of it. */
    @Test
    void aRestoreThatWasCutShortIsDoneAgain() {
        try (TestDirectory directory = new TestDirectory("restore")) {
            HeartwoodWindowStore store = open(task(directory));
            writeAll(store, SEGMENT);
            commit(store, 1);
            store.close();

            List<KeyValue<byte[], byte[]>> changelog = List.of(
                    restored(1, SEGMENT, null), restored(2, SEGMENT + 1, new byte[2]), restored(3, 3 * SEGMENT, new byte[3]));
            for (int life = 0; life < 2; life++) {
                StoreContext context = context(task(directory));
                store = context.open(windows());
                assertEquals(1L, store.committedOffset(StoreContext.CHANGELOG));
                assertNull(store.fetch(key(3), 3 * SEGMENT));
                context.streams().restore("windows", changelog);
                if (life == 1) {
                    commit(store, 4);
                }
                store.close();
            }
            store = open(task(directory));
            assertEquals(4L, store.committedOffset(StoreContext.CHANGELOG));
            assertNull(store.fetch(key(1), SEGMENT));
            assertEquals(2, store.fetch(key(2), SEGMENT + 1).length);
            assertEquals(3, store.fetch(key(3), 3 * SEGMENT).length);
            store.close();
        }
    }

    private static KeyValue<byte[], byte[]> restored(int key, long time, byte[] value) {
        return KeyValue.pair(WindowKeySchema.toStoreKeyBinary(key(key), time, 0).get(), value);
    }
}
