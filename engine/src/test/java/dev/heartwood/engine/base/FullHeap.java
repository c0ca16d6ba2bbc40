package dev.heartwood.engine.base;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Has a process's Java heap be full, but for a little room that grows. What is tried in it has run before, so that no class is loaded then. */
public final class FullHeap {
    private static final int LARGEST_BLOCK_BYTES = 1 << 20;
    private static final int LEAST_BLOCK_BYTES = 1 << 6;
    /** What is smaller is filled with blocks that have nothing but the next. */
    private static final int ARRAY_BYTES_MIN = 2 * LEAST_BLOCK_BYTES;

    private static final int ROUNDS = 3;
    private static final int ROOM_BLOCKS = 1 << 15;

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

    /**
     * Tries something that leaves nothing behind while the heap is full, with more and more room, until there is enough of it; then once more
     * from before the last step on, a block more each time.
     *
     * @param blocks how much more room there is each time at first, in blocks of some 24 bytes
     * @return how many of the attempts with little too little room have failed
     */
    public static int closeToDone(int blocks, Runnable attempt) {
        FullHeap heap = new FullHeap();
        heap.fill(ROOM_BLOCKS);
        int steps = heap.untilDone(blocks, attempt);
        heap.fillUp();
        heap.giveBack((steps - 1) * blocks);
        int failed = heap.untilDone(1, attempt);
        heap.filled = null;
        return failed;
    }

    private int untilDone(int blocks, Runnable attempt) {
        int steps = 0;
        while (!hasRoom(attempt)) {
            if (room == null) {
                throw new AssertionError("there was never enough room");
            }
            giveBack(blocks);
            steps++;
        }
        return steps;
    }

    /** Does what takes nothing of the heap, while there is nothing. */
    public static void whileFull(Runnable action) {
        FullHeap heap = new FullHeap();
        heap.fill(0);
        action.run();
        heap.filled = null;
    }

    private static boolean hasRoom(Runnable attempt) {
        try {
            attempt.run();
            return true;
        } catch (OutOfMemoryError full) {
            return false;
        }
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
        fillUp();
    }

    private void fillUp() {
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
                filled = bytes < ARRAY_BYTES_MIN ? new Object[] {filled} : new Object[] {filled, new byte[bytes]};
            }
        } catch (OutOfMemoryError full) {
            // As wanted.
        }
    }

    private void giveBack(int blocks) {
        for (int i = 0; i < blocks && room != null; i++) {
            room = (Object[]) room[0];
        }
    }

    /** Runs a main method in a process with a small heap. */
    public static void run(Class<?> main) {
        String java = System.getProperty("java.home") + File.separator + "bin" + File.separator + "java";
        try {
            Process process = new ProcessBuilder(
                            java,
                            "-Xmx10m",
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
