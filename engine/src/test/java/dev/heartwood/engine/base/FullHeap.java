package dev.heartwood.engine.base;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Has a process's Java heap be full, but for a little room that grows. What is tried in it has run before, so that no class is loaded then. */
public final class FullHeap {
    private static final int LARGEST_BLOCK_BYTES = 1 << 20;
    private static final int LEAST_BLOCK_BYTES = 1 << 5;
    private static final int ROUNDS = 5;

    /** What takes some of the heap. */
    public interface Attempt {
        /** Does it; what it took and keeps is not there for the next attempt. */
        void run(int number);
    }

    /** Blocks of some 24 bytes, each of which has the next. */
    private Object[] room;

    private Object[] filled;

    private FullHeap() {}

    /**
     * Tries something while the heap is full, again and again, each time with a little more room, until there is enough of it.
     *
     * @param attempts how often at most
     * @param blocks how much more room there is each time than the time before, in blocks of some 24 bytes
     * @return how many attempts have failed
     */
    public static int untilDone(int attempts, int blocks, Attempt attempt) {
        FullHeap heap = new FullHeap();
        heap.fill((attempts + 1) * attempts / 2 * blocks);
        int number = 0;
        while (number < attempts && !hasRoom(attempt, number)) {
            number++;
            heap.giveBack(number * blocks);
        }
        heap.filled = null;
        if (number == attempts) {
            throw new AssertionError("there was no room after " + attempts + " attempts");
        }
        return number;
    }

    /** Does what takes nothing of the heap, while there is nothing. */
    public static void whileFull(Runnable action) {
        FullHeap heap = new FullHeap();
        heap.fill(0);
        action.run();
        heap.filled = null;
    }

    private static boolean hasRoom(Attempt attempt, int number) {
        try {
            attempt.run(number);
            return true;
        } catch (OutOfMemoryError full) {
            return false;
        }
    }

    private void fill(int blocks) {
        for (int i = 0; i < blocks; i++) {
            room = new Object[] {room};
        }
        // Again and again, as not every collection closes all gaps.
        for (int round = 0; round < ROUNDS; round++) {
            for (int bytes = LARGEST_BLOCK_BYTES; bytes >= LEAST_BLOCK_BYTES; bytes /= 2) {
                fillWith(bytes);
            }
        }
    }

    private void fillWith(int bytes) {
        try {
            while (true) {
                Object[] block = new Object[bytes / 4 - 4];
                block[0] = filled;
                filled = block;
            }
        } catch (OutOfMemoryError full) {
            // As wanted.
        }
    }

    private void giveBack(int blocks) {
        for (int i = 0; i < blocks; i++) {
            room = (Object[]) room[0];
        }
    }

    /** Runs a main method in a process with a small heap. */
    public static void run(Class<?> main) {
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        try {
            Process process = new ProcessBuilder(
                            java,
                            "-Xmx12m",
                            "-XX:+UseSerialGC",
                            "-XX:-UseTLAB",
                            "--enable-native-access=ALL-UNNAMED",
                            "-cp",
                            System.getProperty("java.class.path"),
                            main.getName())
                    .redirectErrorStream(true)
                    .start();
            process.getOutputStream().close();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertEquals(0, process.waitFor(), output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
