package dev.heartwood.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.Cursor;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.MountedFileSystem;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Threads that have begun to read a store's pages wait within the kernel for another file system, which answers nobody. Others read what
 * was begun, write, and close the store meanwhile. With {@link DeviceKind#URING}, which says so, they wait until that file system answers.
 */
class FrozenFileSystemTest {
    private static final int READERS = 16;
    private static final int RECORDS = 60_000;
    private static final int APART = RECORDS / READERS;
    private static final int VALUE_BYTES = 400;
    private static final int TAKEN = 300;
    private static final int TAKEN_APART = 7;
    /** A step that takes longer has probably waited for what was read ahead, and begun to read more. */
    private static final long LONG_STEP_NANOS = 15_000;
    /** Where somebody waits for who is held, that comes to an end. */
    private static final long FROZEN_NANOS_MAX = 60_000_000_000L;

    private final AtomicInteger back = new AtomicInteger();
    private final AtomicBoolean isDone = new AtomicBoolean();

    @ParameterizedTest
    @EnumSource(value = DeviceKind.class, names = {"AUTO", "AIO", "POSIX"})
    void nobodyWaitsForWhoWaitsForIt(DeviceKind device) throws IOException, InterruptedException {
        try (TestDirectory parent = new TestDirectory("frozen")) {
            Optional<MountedFileSystem> mounted = MountedFileSystem.of(parent.path(), 32);
            Assumptions.assumeTrue(mounted.isPresent(), "no file system may be mounted here");
            try (MountedFileSystem other = mounted.get()) {
                readBeside(other, parent.path().resolve("store"), device);
            }
        }
    }

    private void readBeside(MountedFileSystem other, Path directory, DeviceKind device) throws IOException, InterruptedException {
        StoreOptions options = StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).device(device).build();
        try (KeyValueStore store = Heartwood.open(directory, options);
                FileChannel file = FileChannel.open(other.path().resolve("file"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            fill(store);
            other.freeze();
            Thread thawing = Thread.ofPlatform().start(() -> thaw(other));
            List<Thread> readers = new ArrayList<>();
            try {
                startReaders(store, file, readers);
                for (int i = 0; i < READERS; i++) {
                    scan(store, i * APART, APART / 2);
                }
                store.put(key(0), key(0));
                store.close();
                assertEquals(0, back.get(), "somebody waited for who waits for the other file system");
            } finally {
                isDone.set(true);
                LockSupport.unpark(thawing);
                for (Thread reader : readers) {
                    reader.join();
                }
                thawing.join();
            }
        }
        assertEquals(READERS, back.get());
    }

    private void thaw(MountedFileSystem other) {
        long began = System.nanoTime();
        while (!isDone.get() && System.nanoTime() - began < FROZEN_NANOS_MAX) {
            LockSupport.parkNanos(FROZEN_NANOS_MAX);
        }
        other.thaw();
    }

    private static void fill(KeyValueStore store) {
        SplittableRandom random = new SplittableRandom(1);
        byte[] value = new byte[VALUE_BYTES];
        for (int i = 0; i < RECORDS; i++) {
            random.nextBytes(value);
            store.put(key(i), value, Durability.NONE);
        }
        store.settle();
    }

    private static byte[] key(int number) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    private static void scan(KeyValueStore store, int from, int count) {
        try (Cursor cursor = store.cursor(KeyRange.all())) {
            take(cursor, from, count);
        }
    }

    private static void take(Cursor cursor, int from, int count) {
        cursor.seek(key(from));
        for (int i = 1; i < count; i++) {
            cursor.next();
        }
    }

    /** Until all have come to write to the file. */
    private void startReaders(KeyValueStore store, FileChannel file, List<Thread> readers) {
        for (int i = 0; i < READERS; i++) {
            int number = i;
            AtomicReference<Path> writing = new AtomicReference<>();
            readers.add(Thread.ofPlatform().start(() -> read(store, file, number, writing)));
            awaitHeld(readers.getLast(), writing);
        }
    }

    private void read(KeyValueStore store, FileChannel file, int number, AtomicReference<Path> writing) {
        ByteBuffer bytes = ByteBuffer.allocateDirect(1);
        try (Cursor cursor = store.cursor(KeyRange.all())) {
            Path status = Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self"))).resolve("status");
            take(cursor, number * APART, TAKEN + TAKEN_APART * number);
            takeUntilLong(cursor);
            writing.set(status); // not before: who reads from the device sleeps so, too
            file.write(bytes, 0);
            back.incrementAndGet();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void takeUntilLong(Cursor cursor) {
        long began;
        do {
            began = System.nanoTime();
        } while (cursor.next() && System.nanoTime() - began < LONG_STEP_NANOS);
    }

    /** Until the system says of a thread that it sleeps and is not to be woken. */
    private static void awaitHeld(Thread reader, AtomicReference<Path> writing) {
        while (reader.isAlive() && !isHeld(writing.get())) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private static boolean isHeld(Path status) {
        try {
            return status != null && Files.readAllLines(status).stream().anyMatch(line -> line.startsWith("State:\tD"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
