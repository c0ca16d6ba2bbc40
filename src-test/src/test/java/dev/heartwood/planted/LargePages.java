package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.EnvironmentOptions;
import dev.heartwood.engine.inspect.Main;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.testkit.SimulatedMachine;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;

/** Opens an environment, and verifies, where memory has larger pages; runs in the engine that {@link LargePagesTest} has loaded. */
public final class LargePages implements Runnable {
    static final int PAGE_BYTES = 64 << 10;
    private static final String REFUSAL = "Heartwood runs where memory has pages of 4096 bytes, and here they have " + PAGE_BYTES;

    @Override
    public void run() {
        SimulatedMachine machine = new SimulatedMachine(1);
        UnsupportedOperationException refused = assertThrows(
                UnsupportedOperationException.class,
                () -> EngineEnvironment.open(EnvironmentOptions.builder().build(), machine));
        assertEquals(REFUSAL, refused.getMessage());
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream err = new PrintStream(said);
        assertEquals(Main.CANNOT_OPEN, Main.run(new String[] {"verify", "none"}, System.out, err));
        assertEquals(REFUSAL + System.lineSeparator(), said.toString());
    }
}
