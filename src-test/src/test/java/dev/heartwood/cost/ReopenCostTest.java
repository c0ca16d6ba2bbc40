package dev.heartwood.cost;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.log.LogInspection;
import dev.heartwood.engine.log.LogInspection.State;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SteppedCallers;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What a killed store reads when it is opened: the trunk, and a log of some memtables, however much the store holds. */
class ReopenCostTest {
    private static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;
    private static final String DATA = "data.hw";
    private static final int PAGE_BYTES = 4096;
    private static final int TYPE_OFFSET = 4;
    private static final int MEMTABLE_BYTES = 64 << 10;
    private static final int CHECKPOINT_DISTANCE = 2;
    private static final int VALUE_BYTES = 400;
    private static final int WRITES = 3000;
    private static final int KILL_EVERY = 50;

    /** Before a checkpoint: those it waits for, those sealed at most, and the active one. */
    private static final int MEMTABLES_MAX = CHECKPOINT_DISTANCE + 3 + 1;

    private static final long ENTRIES_MAX = (long) MEMTABLES_MAX * MEMTABLE_BYTES / VALUE_BYTES;

    /** Each life fills one memtable and a part of the next. */
    private static final int WRITES_OF_LIFE = 200;

    private static final int LIVES = 15;

    /** Each writes one entry. */
    private static final int SHORT_LIVES = 100;

    /** Far more than a node keeps. */
    private static final int SMALL_MEMTABLES = 100;

    /** Runs of one leaf, or of a root above some. */
    private static final int PACKED_MAX = 2 * 16 + 2;

    /** A life's own beside those that a checkpoint waits for, and of each as many ready to follow or kept to be used again. */
    private static final int FILES_MAX = 2 * (CHECKPOINT_DISTANCE + 1);

    private final StoreOptions options = StoreOptions.builder()
            .memory(EnvironmentOptions.MEMORY_MIN)
            .memtable(new ByteSize(MEMTABLE_BYTES))
            .checkpointDistance(CHECKPOINT_DISTANCE)
            // Which AUTO would make greater while the store is written.
            .policy(CompactionPolicyKind.SIZE_TIERED)
            .workers(1)
            .build();

    @Test
    void openingReadsTheTrunkAndSomeMemtablesOfLog() {
        SimulatedMachine machine = new SimulatedMachine(1);
        SplittableRandom random = new SplittableRandom(1);
        long entriesMost = 0;
        long bytesMost = 0;
        int kills = 0;
        try (SteppedCallers callers = new SteppedCallers(1);
                SteppedEnvironment environment = new SteppedEnvironment(1, OptionMatrix.environment(options), machine)) {
            KeyValueStore store = callers.call(0, () -> environment.open(DIRECTORY, options));
            for (int i = 1; i <= WRITES; i++) {
                byte[] key = ByteBuffer.allocate(8).putLong(random.nextLong()).array();
                callers.call(0, () -> {
                    store.put(key, new byte[VALUE_BYTES]);
                    environment.step();
                    return null;
                });
                if (i % KILL_EVERY == 0) {
                    SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(i));
                    LogInspection log = log(killed);
                    entriesMost = Math.max(entriesMost, log.replay().entries());
                    bytesMost = Math.max(bytesMost, liveBytes(log));
                    requireReads(killed, callers);
                    kills++;
                }
            }
        }
        assertTrue(entriesMost <= ENTRIES_MAX, entriesMost + " entries were replayed, not " + ENTRIES_MAX);
        assertTrue(bytesMost <= 2L * MEMTABLES_MAX * MEMTABLE_BYTES, bytesMost + " bytes of log");
        assertTrue(entriesMost < WRITES / 2, "the store was too small to tell");
        Campaign.report(
                getClass(), kills, "reopens, replaying at most " + entriesMost + " entries of " + bytesMost + " bytes of log");
    }

    /** What a replay has packed counts as what is packed: killed before each checkpoint, a store replayed all that it was ever given. */
    @Test
    void aStoreThatIsKilledAgainAndAgainReplaysNoMore() {
        SimulatedMachine machine = new SimulatedMachine(2);
        SplittableRandom random = new SplittableRandom(2);
        long entriesMost = 0;
        for (int life = 0; life < LIVES; life++) {
            try (SteppedCallers callers = new SteppedCallers(1);
                    SteppedEnvironment environment = new SteppedEnvironment(life, OptionMatrix.environment(options), machine)) {
                KeyValueStore store = callers.call(0, () -> environment.open(DIRECTORY, options));
                for (int i = 0; i < WRITES_OF_LIFE; i++) {
                    byte[] key = ByteBuffer.allocate(8).putLong(random.nextLong()).array();
                    callers.call(0, () -> {
                        store.put(key, new byte[VALUE_BYTES]);
                        environment.step();
                        return null;
                    });
                }
                machine = machine.crash(CrashKind.KILL, random);
            }
            entriesMost = Math.max(entriesMost, log(machine).replay().entries());
        }
        assertTrue(entriesMost <= ENTRIES_MAX, entriesMost + " entries were replayed, not " + ENTRIES_MAX);
        assertTrue(ENTRIES_MAX < LIVES * WRITES_OF_LIFE / 2, "the store was too small to tell");
    }

    /** Each life has files of the log of its own, which no checkpoint let go while no memtable was ever full: 100 lives left 100. */
    @Test
    void aStoreThatIsKilledAfterEachWriteLeavesNoMoreFiles() {
        SimulatedMachine machine = new SimulatedMachine(3);
        SplittableRandom random = new SplittableRandom(3);
        long filesMost = 0;
        for (int life = 0; life < SHORT_LIVES; life++) {
            byte[] key = ByteBuffer.allocate(8).putLong(life).array();
            try (SteppedCallers callers = new SteppedCallers(1);
                    SteppedEnvironment environment = new SteppedEnvironment(life, OptionMatrix.environment(options), machine)) {
                KeyValueStore store = callers.call(0, () -> environment.open(DIRECTORY, options));
                callers.call(0, () -> {
                    store.put(key, new byte[VALUE_BYTES]);
                    environment.finish();
                    return null;
                });
                machine = machine.crash(CrashKind.KILL, random);
            }
            filesMost = Math.max(filesMost, log(machine).files().size());
        }
        assertTrue(filesMost <= FILES_MAX, filesMost + " files of log, not " + FILES_MAX);
        try (SteppedCallers callers = new SteppedCallers(1);
                SteppedEnvironment environment = new SteppedEnvironment(0, OptionMatrix.environment(options), machine)) {
            KeyValueStore store = callers.call(0, () -> environment.open(DIRECTORY, options));
            for (int life = 0; life < SHORT_LIVES; life++) {
                byte[] key = ByteBuffer.allocate(8).putLong(life).array();
                assertNotNull(callers.call(0, () -> store.get(key)), "the write of life " + life);
            }
        }
    }

    /** Nothing is merged meanwhile: each memtable that a replay packs is a run of every leaf, and all of them are in the next checkpoint. */
    @Test
    void aLogOfManySmallMemtablesIsPackedAsAFewLargeOnes() {
        // So much memory that no checkpoint is made: what it has would be counted too.
        StoreOptions far = options.toBuilder().checkpointDistance(1024).memory(ByteSize.mib(64)).build();
        assertEquals(SMALL_MEMTABLES, killAndReplay(4, far, far, (written, sealed) -> sealed == SMALL_MEMTABLES));
    }

    /** How many there are was reckoned from the log's generations, though those were of a memtable that was many times as large. */
    @Test
    void aLogOfOneLargeMemtableIsPackedAsAFewSmallerOnes() {
        StoreOptions large = StoreOptions.builder().memory(ByteSize.mib(64)).policy(CompactionPolicyKind.SIZE_TIERED).workers(1).build();
        StoreOptions small = large.toBuilder().memtable(new ByteSize(MEMTABLE_BYTES)).build();
        int enough = SMALL_MEMTABLES * MEMTABLE_BYTES / VALUE_BYTES / 2;
        assertEquals(0, killAndReplay(5, large, small, (written, sealed) -> written == enough));
    }

    /** Whether a store was given enough, by how many values it has and how many memtables it has sealed. */
    private interface Enough {
        boolean isEnough(int written, long sealed);
    }

    /** Kills a store that has made no checkpoint, and looks at how many runs its replay makes; returns how many memtables had been sealed. */
    private static long killAndReplay(long seed, StoreOptions written, StoreOptions reopened, Enough enough) {
        SimulatedMachine machine = new SimulatedMachine(seed);
        SplittableRandom random = new SplittableRandom(seed);
        try (SteppedCallers callers = new SteppedCallers(1)) {
            SimulatedMachine killed;
            long sealed = 0;
            try (SteppedEnvironment environment = new SteppedEnvironment(1, OptionMatrix.environment(written), machine)) {
                KeyValueStore store = callers.call(0, () -> environment.open(DIRECTORY, written));
                for (int i = 0; !enough.isEnough(i, sealed); i++) {
                    byte[] key = ByteBuffer.allocate(8).putLong(random.nextLong()).array();
                    callers.call(0, () -> {
                        store.put(key, new byte[VALUE_BYTES]);
                        environment.step();
                        return null;
                    });
                    sealed = store.stats().memtablesSealed();
                }
                assertEquals(0, store.stats().checkpoints());
                killed = machine.crash(CrashKind.KILL, random);
            }
            try (SteppedEnvironment environment = new SteppedEnvironment(1, OptionMatrix.environment(reopened), killed)) {
                int runs = callers.call(0, () -> environment.open(DIRECTORY, reopened)).stats().runs();
                assertTrue(runs > 1 && runs <= PACKED_MAX, runs + " runs");
            }
            return sealed;
        }
    }

    private static LogInspection log(SimulatedMachine machine) {
        try (Storage storage = machine.storage(DIRECTORY)) {
            LogInspection log = EngineAccess.log(storage);
            assertEquals(0, log.problems().size(), () -> log.problems().getFirst());
            return log;
        }
    }

    private static long liveBytes(LogInspection log) {
        return log.files().stream()
                .filter(file -> file.state() == State.LIVE)
                .mapToLong(LogInspection.SegmentFile::bytes)
                .sum();
    }

    /** Of the data file, opening reads superblocks and trunk and nothing else. */
    private void requireReads(SimulatedMachine killed, SteppedCallers callers) {
        long trunkPages = trunkPages(killed.contents(DIRECTORY, DATA));
        long before = killed.faults().count(OperationKind.READ);
        try (SteppedEnvironment environment = new SteppedEnvironment(1, OptionMatrix.environment(options), killed)) {
            callers.call(0, () -> environment.open(DIRECTORY, options));
            long reads = killed.faults().count(OperationKind.READ) - before;
            assertTrue(reads <= 2 + trunkPages, reads + " reads for " + trunkPages + " pages of trunk");
        }
    }

    private static long trunkPages(byte[] data) {
        long pages = 0;
        for (int at = TYPE_OFFSET; at < data.length; at += PAGE_BYTES) {
            pages += data[at] == PageType.TRUNK.code() ? 1 : 0;
        }
        return pages;
    }
}
