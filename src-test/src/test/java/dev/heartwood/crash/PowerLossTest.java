package dev.heartwood.crash;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.store.StorePolicies;
import dev.heartwood.engine.trunk.Trunk.Heights;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashCampaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.TailMergeOperator;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The engine keeps its promises over kills and losses of power at random instants, also during recovery. */
class PowerLossTest {
    private static final int STEPS = 1200;

    static StoreOptions options(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        return StoreOptions.builder()
                .memory(EnvironmentOptions.MEMORY_MIN)
                .memtable(ByteSize.kib(64))
                .fanout(4)
                .workers(1 + random.nextInt(2))
                .checkpointDistance(1 << random.nextInt(4))
                .freeSpace(random.nextBoolean() ? StoreOptions.FreeSpace.KEEP : StoreOptions.FreeSpace.RETURN)
                .mergeOperator(new TailMergeOperator())
                .policy(CompactionPolicyKind.values()[random.nextInt(CompactionPolicyKind.values().length)])
                .keyOrder(OptionMatrix.keyOrder(seed))
                .build();
    }

    /**
     * Each opening is under another policy than the one before, in whatever state a crash left the tree, and the leaves are under one of
     * their own.
     */
    private static final class Engine implements CrashCampaign.Subject {
        private static final CompactionPolicyKind[] POLICIES = CompactionPolicyKind.values();

        private final StoreOptions options;
        private int next;

        Engine(StoreOptions options, long seed) {
            this.options = options;
            next = (int) (seed % POLICIES.length);
        }

        private CompactionPolicyKind nextPolicy() {
            next = (next + 1) % POLICIES.length;
            return POLICIES[next];
        }

        @Override
        public KeyValueStore open(SimulatedMachine machine) {
            KeyValueStore store =
                    SimulatedStoreHost.open(machine, options.toBuilder().policy(nextPolicy()).build());
            CompactionPolicyKind ofLeaves = POLICIES[(next + 1) % POLICIES.length];
            if (ofLeaves != CompactionPolicyKind.AUTO) {
                StorePolicies.of(store).set(KeyRange.all(), new Heights(0, 0), ofLeaves);
            }
            return store;
        }

        @Override
        public void verify(SimulatedMachine machine) {
            SimulatedStoreHost.verify(machine);
        }
    }

    /** The engine, retuned every few steps. */
    private record Retuned(Engine engine, long seed) implements CrashCampaign.Subject {
        @Override
        public KeyValueStore open(SimulatedMachine machine) {
            return engine.open(machine);
        }

        @Override
        public void beforeStep(KeyValueStore store, int step) {
            SplittableRandom random = new SplittableRandom(seed + step);
            if (random.nextInt(20) == 0) {
                store.tune(store.tuning().withCheckpointDistance(1 << random.nextInt(7)));
            }
        }

        @Override
        public void verify(SimulatedMachine machine) {
            engine.verify(machine);
        }
    }

    private static void crashAll(long seed, CrashKind kind, Durability... levels) {
        new CrashCampaign(new Engine(options(seed), seed), seed, Campaign.operations(STEPS), levels).run(kind);
    }

    @Test
    void syncedWritesSurvivePowerLosses() {
        Campaign.run(getClass(), 3, seed -> crashAll(seed, CrashKind.POWER_LOSS, Durability.SYNC));
    }

    @Test
    void mixedLevelsSurvivePowerLossesAsPromised() {
        Campaign.run(getClass(), 3, seed -> crashAll(
                seed, CrashKind.POWER_LOSS, Durability.BUFFERED, Durability.SYNC, Durability.BUFFERED, Durability.NONE));
    }

    @Test
    void bufferedWritesSurviveKills() {
        Campaign.run(getClass(), 3, seed -> crashAll(seed, CrashKind.KILL, Durability.BUFFERED));
    }

    @Test
    void promisesHoldAcrossRetunes() {
        Campaign.run(getClass(), 3, seed -> {
            Retuned retuned = new Retuned(new Engine(options(seed), seed), seed);
            int steps = Campaign.operations(STEPS);
            new CrashCampaign(retuned, seed, steps, Durability.BUFFERED).run(CrashKind.KILL);
            new CrashCampaign(retuned, seed, steps, Durability.BUFFERED, Durability.SYNC).run(CrashKind.POWER_LOSS);
        });
    }

    /** Merges give up space all the time, and take it again, while the last checkpoint lies far back. */
    @Test
    void theSpaceOfACheckpointIsNotUsedAgainBeforeTheNext() {
        Campaign.run(getClass(), 3, seed -> {
            StoreOptions options = options(seed).toBuilder().checkpointDistance(16).build();
            new CrashCampaign(
                            new Engine(options, seed), seed, Campaign.operations(STEPS), History.Sizes.LARGE, Durability.BUFFERED)
                    .run(CrashKind.KILL);
        });
    }
}
