package dev.heartwood.crash;

import dev.heartwood.ByteSize;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashCampaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.History;
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
                .build();
    }

    private record Engine(StoreOptions options) implements CrashCampaign.Subject {
        @Override
        public KeyValueStore open(SimulatedMachine machine) {
            return SimulatedStoreHost.open(machine, options);
        }

        @Override
        public void verify(SimulatedMachine machine) {
            SimulatedStoreHost.verify(machine);
        }
    }

    private static void crashAll(long seed, CrashKind kind, Durability... levels) {
        new CrashCampaign(new Engine(options(seed)), seed, Campaign.operations(STEPS), levels).run(kind);
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

    /** Merges give up space all the time, and take it again, while the last checkpoint lies far back. */
    @Test
    void theSpaceOfACheckpointIsNotUsedAgainBeforeTheNext() {
        Campaign.run(getClass(), 3, seed -> {
            StoreOptions options = options(seed).toBuilder().checkpointDistance(16).build();
            new CrashCampaign(
                            new Engine(options), seed, Campaign.operations(STEPS), History.Sizes.LARGE, Durability.BUFFERED)
                    .run(CrashKind.KILL);
        });
    }
}
