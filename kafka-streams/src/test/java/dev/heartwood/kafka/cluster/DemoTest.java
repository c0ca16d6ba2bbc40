package dev.heartwood.kafka.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.JavaProcess.Ended;
import dev.heartwood.testkit.TestDirectory;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Arguments that {@code kafka-demo} refuses. */
class DemoTest {
    /** It told how it is used, and not what was wrong. */
    @Test
    void theReasonComesFirst() {
        assertRefused("there is no option '--colour'", "--colour", "red");
        assertRefused("--records is 'many' and not a number from 1 on", "--records", "many");
        assertRefused("--keys is '' and not a number from 1 on", "--keys");
        assertRefused("--memory is 'lots' and not a size", "--memory", "lots");
        assertRefused("--topology is 'versioned' and not one of [table, windows, sliding, sessions, join]", "--topology", "versioned");
        assertRefused("--topology is 'ring' and not one of [table, windows, sliding, sessions, join]", "--topology", "ring");
        assertRefused("--guarantee is 'never' and not one of [at_least_once, exactly_once_v2]", "--guarantee", "never");
    }

    private static void assertRefused(String reason, String... arguments) {
        try (TestDirectory directory = new TestDirectory("demo")) {
            Ended ended = JavaProcess.of(Demo.class, arguments).run(directory.path().resolve("output"));
            assertEquals(2, ended.exit(), ended.output());
            List<String> lines = ended.output().lines().toList();
            assertEquals("kafka-demo: " + reason, lines.getFirst(), ended.output());
            assertTrue(lines.getLast().startsWith("usage: kafka-demo "), ended.output());
        }
    }
}
