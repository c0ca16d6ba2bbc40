package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.TestDirectory;
import java.time.Duration;
import java.util.BitSet;
import java.util.Map;
import java.util.SplittableRandom;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.StateStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The power fails, and what was not synced goes with it. A store without a changelog has nothing but its disk then, which must have all
 * that the last commit on it needs.
 */
class LostPowerTest {
    private static final int KEYS = 12_000;
    private static final long MINUTE = 60_000;

    private final TestDirectory directory = new TestDirectory("power");
    private SimulatedMachine machine = new SimulatedMachine(1);

    /** Which of two commits a loss of power after them leaves. */
    enum Case {
        /** Commits are rare, and each is synced when something is processed after it. */
        EXACTLY_ONCE(false, 200, 2),
        /** Commits come all the time, and those that cover little are not synced. */
        TRANSACTIONAL(true, 200, 1),
        TRANSACTIONAL_AND_MUCH(true, 500, 2);

        private final boolean isTransactional;
        private final int valueBytes;
        private final long left;

        Case(boolean isTransactional, int valueBytes, long left) {
            this.isTransactional = isTransactional;
            this.valueBytes = valueBytes;
            this.left = left;
        }

        byte[] value(long commit) {
            byte[] value = new byte[valueBytes];
            value[0] = (byte) commit;
            return value;
        }
    }

    @AfterEach
    void removeDirectory() {
        directory.close();
    }

    private <S extends StateStore> S open(Case which, S store) {
        Map<String, String> configs = Map.of(
                StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2,
                CommitMode.TRANSACTIONAL_KEY, Boolean.toString(which.isTransactional),
                HeartwoodStoreConfig.MEMTABLE_BYTES, "64k",
                HeartwoodStoreConfig.CHECKPOINT_DISTANCE, "1024");
        return StoreContext.on(machine, directory.path(), configs).open(store);
    }

    private static void commit(StateStore store, long offset) {
        store.commit(Map.of(StoreContext.CHANGELOG, offset));
    }

    /** Merges drop what they may and a checkpoint takes the tree to the disk; then nothing is left of what was not synced. */
    private void settleAndLosePower(TableStore store) {
        store.table().settle();
        machine = machine.powerLoss(new BitSet(), new BitSet());
        store.close();
    }

    /** In an order for which merges have something to do. */
    private static Bytes key(int number) {
        return Bytes.wrap(("key" + number * 7_919L % KEYS).getBytes());
    }

    /** Records that lead back to a commit went with the next one, which was lost. */
    @ParameterizedTest
    @EnumSource
    void theWayBackToACommitStaysUntilTheNextOneIsThereForGood(Case which) {
        HeartwoodKeyValueStore store = keyValues(which);
        writeAndCommit(store, which, 1);
        store.close();
        store = keyValues(which);
        writeAndCommit(store, which, 2);
        store.put(key(0), which.value(3));
        settleAndLosePower(store);
        check(which, which.left);
    }

    /** As of a task that is revoked and closed: the second commit finishes the first, and nothing syncs it yet. */
    @Test
    void theWayBackStaysWhileNothingIsProcessedAfterTheNextCommit() {
        Case which = Case.EXACTLY_ONCE;
        HeartwoodKeyValueStore store = keyValues(which);
        writeAndCommit(store, which, 1);
        store.close();
        store = keyValues(which);
        writeAndCommit(store, which, 2);
        commit(store, 2);
        settleAndLosePower(store);
        check(which, 1);
    }

    private HeartwoodKeyValueStore keyValues(Case which) {
        return open(which, HeartwoodKeyValueStore.of("s", ValueFormat.PLAIN));
    }

    private static void writeAndCommit(HeartwoodKeyValueStore store, Case which, long commit) {
        for (int i = 0; i < KEYS; i++) {
            store.put(key(i), which.value(commit));
        }
        commit(store, commit);
    }

    private void check(Case which, long commit) {
        HeartwoodKeyValueStore store = keyValues(which);
        long found = store.committedOffset(StoreContext.CHANGELOG);
        for (int i = 0; i < KEYS; i++) {
            assertArrayEquals(which.value(found), store.get(key(i)));
        }
        assertEquals(commit, found);
        store.close();
    }

    /** Windows of a commit went when the next one, which was lost, let them expire. */
    @ParameterizedTest
    @EnumSource
    void theWindowsOfACommitStayUntilTheNextOneIsThereForGood(Case which) {
        HeartwoodWindowStore store = windows(which);
        writeAndCommit(store, which, 1);
        store.close();
        store = windows(which);
        writeAndCommit(store, which, 2);
        dropExpired(store);
        settleAndLosePower(store);
        checkWindows(which, which.left);
    }

    /** A commit that a process had written, and not synced, was relied on when the next process had found it. */
    @Test
    void aCommitOfAKilledProcessIsThereForGoodOnceItIsReliedOn() {
        Case which = Case.TRANSACTIONAL;
        HeartwoodWindowStore store = windows(which);
        writeAndCommit(store, which, 1);
        store.close();
        store = windows(which);
        store.put(key(0), which.value(2), start(2)); // one record, which is replayed into memory and not into the tree
        commit(store, 2);
        machine = machine.crash(CrashKind.KILL, new SplittableRandom(1));
        store.close();
        store = windows(which);
        dropExpired(store);
        settleAndLosePower(store);
        store = windows(which);
        assertEquals(2, store.committedOffset(StoreContext.CHANGELOG));
        assertArrayEquals(which.value(2), store.fetch(key(0), start(2)));
        store.close();
    }

    private static void writeAndCommit(HeartwoodWindowStore store, Case which, long commit) {
        for (int i = 0; i < KEYS; i++) {
            store.put(key(i), which.value(commit), start(commit));
        }
        commit(store, commit);
    }

    /** When the windows of a commit start; those of the one before have expired. */
    private static long start(long commit) {
        return 15 * MINUTE * commit;
    }

    /** The first write after a commit has dropped what it lets expire. */
    private static void dropExpired(HeartwoodWindowStore store) {
        store.put(key(0), new byte[1], start(2) + 1);
    }

    private void checkWindows(Case which, long commit) {
        HeartwoodWindowStore store = windows(which);
        long found = store.committedOffset(StoreContext.CHANGELOG);
        for (int i = 0; i < KEYS; i++) {
            assertArrayEquals(which.value(found), store.fetch(key(i), start(found)));
        }
        assertEquals(commit, found);
        store.close();
    }

    private HeartwoodWindowStore windows(Case which) {
        return open(which, (HeartwoodWindowStore) HeartwoodStores.persistentWindowStore(
                        "windows", Duration.ofMinutes(10), Duration.ofSeconds(10), false)
                .get());
    }

    /** A record that had expired has the last commit written anew, and what leads back to the one before may go by it. */
    @Test
    void aCommitThatIsWrittenAnewIsThereForGood() {
        Case which = Case.TRANSACTIONAL;
        HeartwoodWindowStore store = windows(which);
        for (long commit = 1; commit <= 2; commit++) {
            for (int i = 0; i < KEYS; i++) {
                store.put(key(i), which.value(commit), 25 * MINUTE);
            }
            if (commit == 1) {
                store.put(key(KEYS), which.value(commit), 30 * MINUTE);
            }
            commit(store, commit);
            if (commit == 1) {
                store.close();
                store = windows(which);
            }
        }
        store.put(key(0), new byte[1], 16 * MINUTE);
        settleAndLosePower(store);

        store = windows(which);
        assertEquals(2, store.committedOffset(StoreContext.CHANGELOG));
        for (int i = 0; i < KEYS; i++) {
            assertArrayEquals(which.value(2), store.fetch(key(i), 25 * MINUTE));
        }
        store.close();
    }

    /** Of what was not synced any part is lost, at any moment; each life begins with the last commit of the one before. */
    @ParameterizedTest
    @EnumSource
    void aStoreThatLostPowerIsAsItWasCommitted(StoreLives.Kind kind) {
        Campaign.run(getClass(), 6, seed -> {
            SplittableRandom fate = new SplittableRandom(seed);
            SimulatedMachine lived = new SimulatedMachine(seed);
            StoreLives lives = new StoreLives(kind, seed);
            for (int life = 0; life < 8; life++) {
                StoreLives.Opened opened = lives.open(lived, directory.path(), seed);
                try {
                    lives.check(opened.store());
                    lives.live(opened, StoreLives.Ending.DEATH_AT_WORK);
                    lived = lived.crash(CrashKind.POWER_LOSS, fate);
                } finally {
                    opened.store().close();
                }
            }
        });
    }
}
