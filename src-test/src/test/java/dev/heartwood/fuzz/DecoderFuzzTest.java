package dev.heartwood.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.testkit.Differential;
import dev.heartwood.testkit.Differential.Sizes;
import dev.heartwood.testkit.HostileStore;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.SimulatedStoreHost.Running;
import java.nio.charset.StandardCharsets;

/**
 * Fuzzing guided by coverage. In a build each method runs on its kept corpus, in the test resources; with the environment
 * variable {@code JAZZER_FUZZ=1} one method, named on the command line, looks for new inputs and keeps those that reach new code.
 */
class DecoderFuzzTest {
    private static final HostileStore STORE = new HostileStore();
    private static final Sizes SIZES = new Sizes(60, 300, 5000);

    @FuzzTest(maxDuration = "60s")
    void superblock(byte[] input) {
        STORE.attackPage(PageType.SUPERBLOCK, input);
    }

    @FuzzTest(maxDuration = "60s")
    void trunkNode(byte[] input) {
        STORE.attackPage(PageType.TRUNK, input);
    }

    @FuzzTest(maxDuration = "60s")
    void branchLeaf(byte[] input) {
        STORE.attackPage(PageType.BRANCH_LEAF, input);
    }

    @FuzzTest(maxDuration = "60s")
    void branchIndex(byte[] input) {
        STORE.attackPage(PageType.BRANCH_INDEX, input);
    }

    @FuzzTest(maxDuration = "60s")
    void overflow(byte[] input) {
        STORE.attackPage(PageType.OVERFLOW, input);
    }

    @FuzzTest(maxDuration = "60s")
    void filter(byte[] input) {
        STORE.attackPage(PageType.FILTER, input);
    }

    @FuzzTest(maxDuration = "60s")
    void logHeader(byte[] input) {
        STORE.attackPage(PageType.LOG, input);
    }

    @FuzzTest(maxDuration = "60s")
    void logRecord(byte[] input) {
        STORE.attackRecord(input);
    }

    @FuzzTest(maxDuration = "60s")
    void optionsText(byte[] input) {
        String text = new String(input, StandardCharsets.UTF_8);
        StoreOptions parsed;
        try {
            parsed = StoreOptions.parse(text);
        } catch (IllegalArgumentException refused) {
            return;
        }
        if (!StoreOptions.parse(parsed.toString()).toMap().equals(parsed.toMap())) {
            throw new AssertionError("options do not survive printing: " + parsed);
        }
    }

    @FuzzTest(maxDuration = "60s")
    void operations(byte[] input) {
        Differential.runStream(input, SIZES, () -> new SimulatedStoreHost(1, Running.IN_STEPS));
    }
}
