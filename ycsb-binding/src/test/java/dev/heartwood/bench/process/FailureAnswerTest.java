package dev.heartwood.bench.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Test;

class FailureAnswerTest {
    /** The same heap was advised to all, also to those that had a larger one, and where it went wrong was not to be seen. */
    @Test
    void aFullHeapIsToBeMadeLargerThanItIs() {
        long doubled = 2 * Runtime.getRuntime().maxMemory() >> 20;
        FailureAnswer answer = FailureAnswer.of(new OutOfMemoryError("Java heap space"));
        String advice = "; HEARTWOOD_JAVA_OPTS=-Xmx" + doubled + "m gives each engine's JVM more";
        assertEquals("java.lang.OutOfMemoryError: Java heap space" + advice, answer.text());
        assertTrue(answer.leavesStack());
        answer = FailureAnswer.of(new IllegalStateException("a commit failed", new OutOfMemoryError("Java heap space")));
        assertTrue(answer.text().endsWith(advice), answer.text());
        assertTrue(answer.leavesStack());
    }

    /** A larger heap leaves threads even less memory. */
    @Test
    void forWantOfThreadsNoLargerHeapIsAdvised() {
        FailureAnswer answer = FailureAnswer.of(new OutOfMemoryError("unable to create native thread"));
        assertEquals("java.lang.OutOfMemoryError: unable to create native thread", answer.text());
        assertTrue(answer.leavesStack());
    }

    /** It left the stack of a store that had only said that the disk is full. */
    @Test
    void aFullDiskIsOneLine() {
        NoSpaceException full = new NoSpaceException("no space\nfor 4096 bytes");
        for (Throwable failure : new Throwable[] {full, new ExecutionException(full)}) {
            FailureAnswer answer = FailureAnswer.of(failure);
            assertEquals("no space for 4096 bytes", answer.text());
            assertFalse(answer.leavesStack());
        }
    }

    @Test
    void aRefusalIsOneLineAndAllElseLeavesItsStack() {
        FailureAnswer refusal = FailureAnswer.of(new IllegalStateException("run phase load\nfirst"));
        assertEquals("run phase load first", refusal.text());
        assertFalse(refusal.leavesStack());
        FailureAnswer failure = FailureAnswer.of(new IllegalArgumentException("no put", new IOException("disk on fire")));
        assertEquals(
                "java.lang.IllegalArgumentException: no put because of java.io.IOException: disk on fire",
                failure.text());
        assertTrue(failure.leavesStack());
    }
}
