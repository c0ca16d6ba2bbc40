package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.Cursor;
import dev.heartwood.DeviceKind;
import dev.heartwood.Durability;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.task.ThreadWorkers;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A batch whose records found room in a memtable, and whose index did not, was refused, but the empty memtable kept all that it had taken, which
 * was nearly all memory of memtables: what was written by other threads, or to other stores, was refused from then on.
 */
class RefusedBatchTest {
    private static final int ENTRIES = 40_000;
    private static final int PIECE_BYTES = 1 << 20;

    @TempDir
    private Path directory;

    /** Whether the file system of the stores has no space for a log. */
    private boolean isFull;

    private static EngineEnvironment environment(int mebibytes) {
        return EngineEnvironment.open(
                EnvironmentOptions.builder().memory(ByteSize.mib(mebibytes)).build());
    }

    /** Of stores whose file system may be full. */
    private EngineEnvironment fillingEnvironment(int mebibytes) {
        return EngineEnvironment.open(
                EnvironmentOptions.builder().memory(ByteSize.mib(mebibytes)).build(),
                path -> filling(new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED)),
                new Surroundings(count -> new ThreadWorkers("test", count), Clock.SYSTEM, Randomness.SYSTEM, 2));
    }

    private Storage filling(Storage storage) {
        return (Storage) Proxy.newProxyInstance(
                Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (proxy, method, arguments) -> {
                    if (isFull && method.getName().equals("openMapped")) {
                        throw new NoSpaceException("for a test");
                    }
                    try {
                        return method.invoke(storage, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private KeyValueStore open(EngineEnvironment environment, String name) {
        return environment.open(directory.resolve(name), StoreOptions.builder().build());
    }

    private static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES).putLong(number).array();
    }

    private static void write(KeyValueStore store, int count) {
        try (WriteBatch batch = store.newBatch()) {
            for (int i = 0; i < count; i++) {
                batch.put(bytes(i), bytes(i));
            }
            store.write(batch);
        }
        assertArrayEquals(bytes(count - 1), store.get(bytes(count - 1)));
    }

    /** Its records take 4 MiB and its index 1 MiB, of 4.7 MiB that there are. */
    @Test
    void oneThatNeverFitsTakesNothing() {
        try (EngineEnvironment environment = environment(20);
                KeyValueStore store = open(environment, "store")) {
            assertThrows(InsufficientMemoryException.class, () -> write(store, ENTRIES));
            assertEquals(0, environment.memtableMemory().allocated());
            write(store, ENTRIES / 2);
        }
    }

    /** The index takes no more than it needs in the end: of 5.6 MiB that is enough. */
    @Test
    void oneThatFitsIsTaken() {
        try (EngineEnvironment environment = environment(24);
                KeyValueStore store = open(environment, "store")) {
            write(store, ENTRIES);
        }
    }

    /** Somebody else has a part of the memory, and gives none back. */
    @Test
    void oneThatDoesNotFitNowGivesBackWhatItHasTaken() {
        try (EngineEnvironment environment = environment(24);
                KeyValueStore store = open(environment, "store");
                KeyValueStore other = open(environment, "other")) {
            long piece = environment.memtableMemory().allocate(PIECE_BYTES);
            try (Snapshot view = store.snapshot();
                    Cursor cursor = store.cursor()) {
                assertThrows(InsufficientMemoryException.class, () -> write(store, ENTRIES));
                // Takes half of the largest piece that there is.
                other.put(bytes(0), new byte[PIECE_BYTES]);
                write(store, ENTRIES / 2);
                assertNull(view.get(bytes(0)));
                assertFalse(cursor.first());
            }
            environment.memtableMemory().free(piece, PIECE_BYTES);
            write(store, ENTRIES);
        }
    }

    /** One for which the log found no space keeps what it took, as long as nobody is short of it. */
    @Test
    void whatOneWithoutALogHasTakenIsGivenBackToWritesOfOthers() {
        try (EngineEnvironment environment = fillingEnvironment(24);
                KeyValueStore store = open(environment, "store");
                KeyValueStore other = open(environment, "other")) {
            isFull = true;
            assertThrows(NoSpaceException.class, () -> write(store, ENTRIES));
            assertTrue(environment.memtableMemory().allocated() > 2 * PIECE_BYTES);
            other.put(bytes(0), new byte[PIECE_BYTES], Durability.NONE);
            assertThrows(NoSpaceException.class, () -> store.put(bytes(0), bytes(0)));
            isFull = false;
            write(store, ENTRIES / 2);
        }
    }

    /** Nor are stores refused that are being opened. */
    @Test
    void whatOneWithoutALogHasTakenIsGivenBackToAStoreThatReplays() throws IOException {
        try (EngineEnvironment environment = fillingEnvironment(24);
                KeyValueStore store = open(environment, "store")) {
            KeyValueStore killed = open(environment, "killed");
            killed.put(bytes(0), new byte[PIECE_BYTES]);
            copy(directory.resolve("killed"), directory.resolve("copy"));
            killed.close();
            isFull = true;
            assertThrows(NoSpaceException.class, () -> write(store, ENTRIES));
            isFull = false;
            try (KeyValueStore copy = open(environment, "copy")) {
                assertArrayEquals(new byte[PIECE_BYTES], copy.get(bytes(0)));
            }
        }
    }

    private static void copy(Path from, Path to) throws IOException {
        Files.createDirectory(to);
        try (Stream<Path> files = Files.list(from)) {
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }
}
