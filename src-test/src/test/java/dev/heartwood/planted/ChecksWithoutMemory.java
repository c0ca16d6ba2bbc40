package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreStats;
import dev.heartwood.VerifyReport;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SteppedEnvironment;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Verifies, copies and scrubs a sound store while the pools of native memory refuse the first, the second, the third block; runs in the
 * engine that {@link MemoryCountdownTest} has loaded.
 */
public final class ChecksWithoutMemory implements Runnable {
    private static final Path DIRECTORY = SimulatedStoreHost.DIRECTORY;
    private static final int KEYS = 3000;

    /** How often the scrubber looks again while there is no memory. */
    private static final int STEPS_WITHOUT = 3;

    private final MemoryCountdown memory = new MemoryCountdown();
    private final SimulatedMachine machine = new SimulatedMachine(1);
    private final StoreOptions options =
            OptionMatrix.smallTree().toBuilder().scrubPerSecond(ByteSize.gib(1)).build();

    @Override
    public void run() {
        try (SteppedEnvironment environment = newEnvironment();
                KeyValueStore store = environment.open(DIRECTORY, options)) {
            fill(store);
            store.checkpoint();
            store.settle();
        }
        try (SteppedEnvironment environment = newEnvironment();
                KeyValueStore store = environment.open(DIRECTORY, options)) {
            environment.holdTime();
            for (Duration duration : Duration.values()) {
                eachRefused(duration, nth -> verify(store));
                eachRefused(duration, nth -> store.backup(DIRECTORY.resolveSibling("to-" + duration + nth)));
                scrub(environment, store, duration);
            }
        }
    }

    private SteppedEnvironment newEnvironment() {
        return new SteppedEnvironment(1, OptionMatrix.environment(options), machine);
    }

    private static void fill(KeyValueStore store) {
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 2 * KEYS; i++) {
            byte[] value = new byte[i % 50 == 0 ? 9000 : random.nextInt(400)];
            random.nextBytes(value);
            store.put(("user" + random.nextInt(KEYS)).getBytes(), value);
        }
    }

    private interface Check {
        void run(long nth);
    }

    /** Runs a check with each block refused, until one is done with all it asks for. */
    private void eachRefused(Duration duration, Check check) {
        boolean struck = true;
        for (long nth = 1; struck; nth++) {
            memory.arm(nth, duration);
            try {
                check.run(nth);
            } catch (InsufficientMemoryException refused) {
                // as is documented
            } finally {
                struck = memory.heal();
            }
        }
    }

    private static void verify(KeyValueStore store) {
        VerifyReport report = store.verify();
        assertEquals(List.of(), report.problems());
        assertTrue(report.nodes() > 3, report.toString());
    }

    /** Every pass reads all pages, whatever was refused meanwhile. */
    private void scrub(SteppedEnvironment environment, KeyValueStore store, Duration duration) {
        endPass(environment, store);
        StoreStats begun = store.stats();
        endPass(environment, store);
        long pages = store.stats().pagesScrubbed() - begun.pagesScrubbed();
        assertTrue(pages > 100, pages + " pages");
        eachRefused(duration, nth -> {
            StoreStats before = store.stats();
            // Each step takes a block at least.
            for (long steps = nth + STEPS_WITHOUT; steps > 0 && store.stats().scrubs() == before.scrubs(); steps--) {
                environment.passTime();
            }
            memory.grant();
            endPass(environment, store);
            StoreStats after = store.stats();
            long passes = after.scrubs() - before.scrubs();
            assertEquals(passes * pages, after.pagesScrubbed() - before.pagesScrubbed(), "block " + nth + " refused " + duration);
            assertEquals(0, after.damagedPages());
        });
    }

    private static void endPass(SteppedEnvironment environment, KeyValueStore store) {
        long passes = store.stats().scrubs();
        while (store.stats().scrubs() == passes) {
            environment.passTime();
        }
    }
}
