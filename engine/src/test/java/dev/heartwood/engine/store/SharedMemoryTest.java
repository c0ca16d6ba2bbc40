package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.memtable.Memtable;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.ThreadWorkers;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a store does while others have the memory that it needs: it waits for it. */
class SharedMemoryTest {
    private static final int KEYS = 20_000;
    private static final int VALUE_BYTES = 200;
    private static final StoreOptions LARGE_MEMTABLE =
            StoreOptions.builder().memtable(ByteSize.mib(1)).checkpointDistance(1000).build();
    /** Two have all memory of memtables. */
    private static final StoreOptions HALF =
            StoreOptions.builder().memtable(ByteSize.mib(16)).build();
    private static final StoreOptions OPTIONS =
            StoreOptions.builder().memtable(ByteSize.kib(256)).build();

    @TempDir
    Path directory;

    /** The threads that wait for others, and asked for something to do meanwhile. */
    private final Set<Thread> waiting = ConcurrentHashMap.newKeySet();

    private final EngineEnvironment environment = EngineEnvironment.open(
            EnvironmentOptions.builder().memory(ByteSize.mib(16)).build(),
            path -> watched(new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED)),
            new Surroundings(Watched::new, Clock.SYSTEM, Randomness.SYSTEM, 2));
    private final ExecutorService thread = Executors.newCachedThreadPool();
    private final List<Long> blocks = new ArrayList<>();
    private final List<Long> memtableBlocks = new ArrayList<>();
    private final List<Memtable> memtables = new ArrayList<>();
    private boolean isAdmitted;
    private volatile boolean isFull;

    /** Workers that note who asks for something to do. */
    private final class Watched implements Workers {
        private final Workers workers;

        private Watched(int count) {
            workers = new ThreadWorkers("shared", count);
        }

        @Override
        public boolean runOneHere() {
            waiting.add(Thread.currentThread());
            return false;
        }

        @Override
        public void submit(Priority priority, Runnable task) {
            workers.submit(priority, task);
        }

        @Override
        public Timer timer(Priority priority, Runnable task) {
            return workers.timer(priority, task);
        }

        @Override
        public int count() {
            return workers.count();
        }

        @Override
        public void close() {
            workers.close();
        }
    }

    /** The storage, whose data files get no blocks while it is full. */
    private Storage watched(Storage of) {
        return proxy(Storage.class, of, opened -> opened instanceof BlockDevice device ? proxy(BlockDevice.class, device, same -> same) : opened);
    }

    private <T> T proxy(Class<T> type, T of, UnaryOperator<Object> result) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (isFull && (method.getName().equals("allocate") || method.getName().equals("restore"))) {
                throw new NoSpaceException("simulated");
            }
            try {
                return result.apply(method.invoke(of, arguments));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    @AfterEach
    void close() {
        isFull = false;
        giveBack();
        thread.close();
        environment.close();
    }

    /** For who is alone; or, having found no memory beside others, to be alone. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void writersWait(boolean othersAreAlone) throws Exception {
        KeyValueStore store = environment.open(directory.resolve("a"), OPTIONS);
        takeMemory();
        admit(othersAreAlone);
        Future<?> written = thread.submit(() -> write(store));
        awaitPacking();
        assertFalse(written.isDone());
        giveBack();
        written.get();
        check(store);
    }

    @Test
    void writersAreRefusedWhenNobodyCanGiveMemoryBack() {
        KeyValueStore store = environment.open(directory.resolve("a"), OPTIONS);
        takeMemory();
        assertThrows(InsufficientMemoryException.class, () -> write(store));
        giveBack();
        write(store);
        check(store);
    }

    @Test
    void aStoreThatReplaysWaits() throws Exception {
        Path killed = killedStore();
        takeMemory();
        check(openWaiting(killed, false));
    }

    /** Opens a store that can only replay its log once memory is given back. */
    private KeyValueStore openWaiting(Path killed, boolean alone) throws Exception {
        admit(alone);
        Future<KeyValueStore> opened = thread.submit(() -> environment.open(killed, OPTIONS));
        awaitPacking();
        assertFalse(opened.isDone());
        giveBack();
        return opened.get();
    }

    /** The other store has its memtable packed for that, as soon as it may. */
    @Test
    void aStoreThatReplaysWaitsForMemtablesOfOthers() throws Exception {
        Path killed = killedStore();
        KeyValueStore other = environment.open(directory.resolve("other"), LARGE_MEMTABLE);
        other.put(key(0), value(0));
        takeMemtables();
        check(openWaiting(killed, true));
        assertArrayEquals(value(0), other.get(key(0)));
    }

    @Test
    void aStoreThatReplaysIsRefusedWhenNobodyCanGiveMemoryBack() {
        Path killed = killedStore();
        takeMemtables();
        assertThrows(InsufficientMemoryException.class, () -> environment.open(killed, OPTIONS));
        giveBack();
        check(environment.open(killed, OPTIONS));
    }

    /**
     * Two have all memory of memtables and wait to be alone with what they pack; the third finds none. Once it was refused, since nobody
     * asked those that were being opened.
     */
    @Test
    void storesThatReplayWaitForEachOther() throws Exception {
        Path killed = killedStore();
        admit(true);
        List<Future<KeyValueStore>> opened = new ArrayList<>();
        for (int i = 1; i <= 2; i++) {
            Path other = directory.resolve("killed" + i);
            copy(killed, other);
            opened.add(thread.submit(() -> environment.open(other, HALF)));
            awaitPackings(i);
        }
        takeMemtableBlocks();
        waiting.clear();
        AtomicReference<Thread> last = new AtomicReference<>();
        Future<KeyValueStore> third = thread.submit(() -> {
            last.set(Thread.currentThread());
            return environment.open(killed, HALF);
        });
        while (!third.isDone() && (last.get() == null || !waiting.contains(last.get()))) {
            Thread.onSpinWait();
        }
        assertFalse(third.isDone());
        releasePacking();
        opened.add(third);
        for (Future<KeyValueStore> each : opened) {
            check(each.get());
        }
    }

    /**
     * A memtable that found no memory beside others, and no space alone. Whenever it was tried again it was alone once more, so that all other
     * stores waited for a full one.
     */
    @Test
    void aMemtableWithoutSpaceIsTriedBesideOthers() throws Exception {
        Path killed = killedStore(store -> store.put(key(0), value(0)));
        isFull = true;
        // What is replayed is taken in, whether there is space to pack it or not.
        KeyValueStore store = environment.open(killed, OPTIONS);
        takeMemory();
        admit(false);
        Future<?> checkpoint = thread.submit(store::checkpoint);
        awaitPacking();
        giveBack();
        assertRefused(checkpoint);

        admit(false);
        Future<?> another = thread.submit(store::checkpoint);
        while (!another.isDone() && environment.mergeAdmission().packingsWaiting() == 0) {
            Thread.onSpinWait();
        }
        assertEquals(0, environment.mergeAdmission().packingsWaiting(), "it waits to be alone, and others wait for it");
        assertRefused(another);
        isFull = false;
        store.checkpoint();
        assertArrayEquals(value(0), store.get(key(0)));
    }

    private static void assertRefused(Future<?> checkpoint) {
        ExecutionException failure = assertThrows(ExecutionException.class, checkpoint::get);
        assertInstanceOf(NoSpaceException.class, failure.getCause());
    }

    /** A store that has everything in its log. */
    private Path killedStore() {
        return killedStore(SharedMemoryTest::write);
    }

    private Path killedStore(Consumer<KeyValueStore> writes) {
        Path killed = directory.resolve("killed");
        try (KeyValueStore store = environment.open(directory.resolve("a"), LARGE_MEMTABLE)) {
            writes.accept(store);
            copy(directory.resolve("a"), killed);
        }
        return killed;
    }

    /** Takes all memory of memtables that is left. */
    private void takeMemtables() {
        long entry = take(environment.mergeBuffers());
        int sequence = 0;
        for (Memtable memtable = newMemtable(); memtable.reserve(0, Integer.BYTES, VALUE_BYTES); memtable = newMemtable()) {
            memtables.add(memtable);
            while (memtable.reserve(0, Integer.BYTES, VALUE_BYTES)) {
                Memory.putInt(entry, ++sequence);
                long hash = KeyHasher.hash(entry, Integer.BYTES);
                memtable.insert(0, hash, entry, Integer.BYTES, sequence, Entries.PUT, entry, VALUE_BYTES);
            }
        }
        environment.mergeBuffers().free(entry, MemoryPool.BLOCK_BYTES_MIN);
    }

    private Memtable newMemtable() {
        return environment.newMemtable(1, 1, Long.MAX_VALUE);
    }

    /** Takes what memtables have left, without a memtable. */
    private void takeMemtableBlocks() {
        MemoryPool pool = environment.memtableMemory();
        for (long block = take(pool); block != 0; block = take(pool)) {
            memtableBlocks.add(block);
        }
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

    /** Begins to pack, as another store would. */
    private void admit(boolean alone) {
        isAdmitted = environment.mergeAdmission().admitPacking(alone, () -> {});
        assertTrue(isAdmitted);
    }

    /** Gives back all that was taken, and ends what was begun. */
    private void giveBack() {
        blocks.forEach(block -> environment.mergeBuffers().free(block, MemoryPool.BLOCK_BYTES_MIN));
        blocks.clear();
        memtableBlocks.forEach(block -> environment.memtableMemory().free(block, MemoryPool.BLOCK_BYTES_MIN));
        memtableBlocks.clear();
        releasePacking();
        memtables.forEach(Memtable::release);
        memtables.clear();
    }

    private void releasePacking() {
        if (isAdmitted) {
            isAdmitted = false;
            environment.mergeAdmission().releasePacking();
        }
    }

    private void awaitPacking() {
        awaitPackings(1);
    }

    /** Waits until so many wait for being admitted. */
    private void awaitPackings(int count) {
        while (environment.mergeAdmission().packingsWaiting() < count) {
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
        return ByteBuffer.allocate(VALUE_BYTES).putInt(key).array();
    }
}
