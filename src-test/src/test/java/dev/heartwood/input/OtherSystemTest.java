package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.engine.inspect.Main;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.JavaProcess.Ended;
import dev.heartwood.testkit.TestDirectory;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A JVM whose system, by its own word, is none that Heartwood runs on, or that denies what Heartwood cannot run without. */
class OtherSystemTest {
    private static final String SYSTEM = "-Dos.name=Another";
    private static final String MACHINE = "-Dos.arch=Machine";
    private static final String REFUSAL = "Heartwood runs on Linux on x86-64 and AArch64, not on Another on Machine";

    private static final String DENIAL =
            "Heartwood calls the C library, and this JVM denies it native access: start it with --enable-native-access=ALL-UNNAMED";

    /** Opens a store and an environment; prints why it cannot. */
    static final class Opener {
        private Opener() {}

        public static void main(String[] args) {
            Path directory = Path.of(args[0]);
            try (KeyValueStore store = Heartwood.open(directory)) {
                System.out.println("opened " + store);
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
            }
            try (Environment environment = Heartwood.openEnvironment(EnvironmentOptions.builder().build())) {
                System.out.println("opened " + environment);
            } catch (UnsupportedOperationException e) {
                System.out.println(e.getMessage());
            }
        }
    }

    /** Memory was mapped there first, and the first store ended in an ExceptionInInitializerError, the second in a NoClassDefFoundError. */
    @Test
    void everyOpenIsRefusedInPlainWords() {
        try (TestDirectory parent = new TestDirectory("system")) {
            Ended ended = JavaProcess.of(Opener.class, parent.path().resolve("store").toString())
                    .flags(SYSTEM, MACHINE)
                    .run(parent.path().resolve("output"));
            assertEquals(REFUSAL + "\n" + REFUSAL + "\n", ended.output());
            assertEquals(0, ended.exit());
        }
    }

    /** The first store ended in an ExceptionInInitializerError, the second in a NoClassDefFoundError. */
    @Test
    void everyOpenIsRefusedInPlainWordsWhereNativeAccessIsDenied() {
        try (TestDirectory parent = new TestDirectory("system")) {
            Ended ended = JavaProcess.of(Opener.class, parent.path().resolve("store").toString())
                    .illegalNativeAccess("deny")
                    .run(parent.path().resolve("output"));
            assertEquals(DENIAL + "\n" + DENIAL + "\n", ended.output());
            assertEquals(0, ended.exit());
            ended = JavaProcess.of(Main.class, "verify", parent.path().toString())
                    .illegalNativeAccess("deny")
                    .run(parent.path().resolve("commands"));
            assertEquals(DENIAL + "\n", ended.output());
            assertEquals(Main.CANNOT_OPEN, ended.exit());
        }
    }

    /** The JVM says then too that it has not given it. */
    @Test
    void storesOpenWhereTheJvmOnlyWarnsOfNativeAccess() {
        try (TestDirectory parent = new TestDirectory("system")) {
            Ended ended = JavaProcess.of(Opener.class, parent.path().resolve("store").toString())
                    .illegalNativeAccess("warn")
                    .run(parent.path().resolve("output"));
            assertEquals(2, ended.output().lines().filter(line -> line.startsWith("opened ")).count(), ended.output());
            assertTrue(ended.output().contains("WARNING: "), ended.output());
            assertEquals(0, ended.exit());
        }
    }

    @Test
    void commandsOverClosedStoresSayNoMoreThanThat() {
        try (TestDirectory parent = new TestDirectory("system")) {
            Ended ended = JavaProcess.of(Main.class, "verify", parent.path().toString())
                    .flags(SYSTEM, MACHINE)
                    .run(parent.path().resolve("output"));
            assertEquals(REFUSAL + "\n", ended.output());
            assertEquals(Main.CANNOT_OPEN, ended.exit());
        }
    }
}
