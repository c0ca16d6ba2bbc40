package dev.heartwood.crash;

import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** A process that ends without closing its store, while a daemon thread writes to it. */
final class AbandonedStore {
    /** How it ends. */
    enum End {
        /** Its main method returns, so nothing but daemon threads is left. */
        RETURN,
        /** It calls System.exit. */
        EXIT,
        /** It waits for a signal. */
        SIGNAL
    }

    private static final int WRITES_BEFORE_END = 2000;

    private AbandonedStore() {}

    static StoreOptions options() {
        return StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    }

    static Path progress(Path directory) {
        return directory.resolveSibling("progress");
    }

    static byte[] key(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    /** Arguments: the directory, and how to end. */
    public static void main(String[] args) throws InterruptedException {
        Path directory = Path.of(args[0]);
        KeyValueStore store = Heartwood.open(directory, options());
        CountDownLatch written = new CountDownLatch(WRITES_BEFORE_END);
        Thread.ofPlatform().daemon().start(() -> write(store, progress(directory), written));
        written.await();
        switch (End.valueOf(args[1])) {
            case RETURN -> {}
            case EXIT -> System.exit(5);
            case SIGNAL -> {
                System.out.println("waiting");
                Thread.currentThread().join();
            }
        }
    }

    private static void write(KeyValueStore store, Path progress, CountDownLatch written) {
        try (RandomAccessFile file = new RandomAccessFile(progress.toFile(), "rw")) {
            byte[] number = new byte[4];
            for (int i = 0; ; i++) {
                store.put(key(i), new byte[500]);
                ByteBuffer.wrap(number).putInt(i + 1);
                file.seek(0);
                file.write(number);
                written.countDown();
            }
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
