package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.os.MemoryPool;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a store does while others have the memory for merges: it waits for it. */
class SharedMemoryTest {
    private static final int KEYS = 20_000;
    private static final StoreOptions OPTIONS =
            StoreOptions.builder().memtable(ByteSize.kib(256)).build();

    @TempDir
    Path directory;

    private final EngineEnvironment environment = EngineEnvironment.open(
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build());
    private final ExecutorService thread = Executors.newFixedThreadPool(1);
    private final List<Long> blocks = new ArrayList<>();

    @AfterEach
    void close() {
        thread.close();
        environment.close();
    }

    @Test
    void writersWaitForWhoIsAlone() throws Exception {
        KeyValueStore store = environment.open(directory.resolve("a"), OPTIONS);
        takeMemory();
        assertTrue(environment.mergeAdmission().admitPacking(true, () -> {}));
        Future<?> written = thread.submit(() -> write(store));
        awaitPacking();
        assertFalse(written.isDone());
        giveMemoryBack();
        environment.mergeAdmission().releasePacking();
        written.get();
        check(store);
    }

    /** Who finds no memory beside others asks to be alone, and waits until they have ended. */
    @Test
    void writersWaitForThoseWhoHoldTheMemory() throws Exception {
        KeyValueStore store = environment.open(directory.resolve("a"), OPTIONS);
        takeMemory();
        assertTrue(environment.mergeAdmission().admitPacking(false, () -> {}));
        Future<?> written = thread.submit(() -> write(store));
        awaitPacking();
        assertFalse(written.isDone());
        giveMemoryBack();
        environment.mergeAdmission().releasePacking();
        written.get();
        check(store);
    }

    @Test
    void writersAreRefusedWhenNobodyCanGiveMemoryBack() {
        KeyValueStore store = environment.open(directory.resolve("a"), OPTIONS);
        takeMemory();
        assertThrows(InsufficientMemoryException.class, () -> write(store));
        giveMemoryBack();
        write(store);
        check(store);
    }

    @Test
    void aStoreThatReplaysWaits() throws Exception {
        KeyValueStore store = environment.open(
                directory.resolve("a"), StoreOptions.builder().memtable(ByteSize.mib(1)).checkpointDistance(1000).build());
        write(store);
        Path killed = directory.resolve("b");
        copy(directory.resolve("a"), killed);
        takeMemory();
        assertTrue(environment.mergeAdmission().admitPacking(false, () -> {}));
        Future<KeyValueStore> opened = thread.submit(() -> environment.open(killed, OPTIONS));
        awaitPacking();
        assertFalse(opened.isDone());
        giveMemoryBack();
        environment.mergeAdmission().releasePacking();
        check(opened.get());
    }

    /** Takes all memory for merges. */
    private void takeMemory() {
        MemoryPool pool = environment.mergeBuffers();
        for (long block = take(pool); block != 0; block = take(pool)) {
            blocks.add(block);
        }
    }

    private static long take(MemoryPool pool) {
        return pool.allocate(MemoryPool.BLOCK_BYTES_MIN);
    }

    private void giveMemoryBack() {
        blocks.forEach(block -> environment.mergeBuffers().free(block, MemoryPool.BLOCK_BYTES_MIN));
        blocks.clear();
    }

    /** Waits until somebody waits for being admitted. */
    private void awaitPacking() {
        while (environment.mergeAdmission().packingsWaiting() == 0) {
            Thread.onSpinWait();
        }
    }

    private static void copy(Path from, Path to) {
        try (Stream<Path> files = Files.list(from)) {
            Files.createDirectory(to);
            for (Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(KeyValueStore store) {
        for (int key = 0; key < KEYS; key++) {
            store.put(key(key), value(key));
        }
    }

    private static void check(KeyValueStore store) {
        for (int key = 0; key < KEYS; key++) {
            assertArrayEquals(value(key), store.get(key(key)), "key " + key);
        }
    }

    private static byte[] key(int key) {
        return ByteBuffer.allocate(4).putInt(key).array();
    }

    private static byte[] value(int key) {
        return ByteBuffer.allocate(200).putInt(key).array();
    }
}
