package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.ByteSize;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.background.QueuedWorkers;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.MemoryPool;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How many memtables lie between two checkpoints. */
class CheckpointDistanceTest {
    private static final int DISTANCE = 8;
    /** Takes a block of a MiB, as much as so many full memtables. */
    private static final byte[] LARGE = new byte[900_000];

    private static final int LARGE_FULL = 4;
    private static final StoreOptions OPTIONS = StoreOptions.builder()
            .memtable(ByteSize.kib(256))
            .checkpointDistance(DISTANCE)
            .policy(CompactionPolicyKind.SIZE_TIERED)
            .build();

    @TempDir
    private Path directory;

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final EngineEnvironment environment = EngineEnvironment.open(
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build(),
            path -> refusing(new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED)),
            new Surroundings(count -> new QueuedWorkers(tasks), Clock.SYSTEM, Randomness.SYSTEM, 1));
    private int written;
    /** Whether there is no space for images of nodes, which are written a page at a time. */
    private boolean isFull;

    private Storage refusing(Storage of) {
        return proxy(Storage.class, of);
    }

    private <T> T proxy(Class<T> type, T of) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            if (isFull && method.getName().equals("write")) {
                throw new NoSpaceException("simulated");
            }
            try {
                Object result = method.invoke(of, arguments);
                return result instanceof BlockDevice device && type == Storage.class ? proxy(BlockDevice.class, device) : result;
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }

    /** Writes until so many more memtables are packed. */
    private void pack(KeyValueStore store, int memtables) {
        pack(store, memtables, new byte[1000]);
    }

    private void pack(KeyValueStore store, int memtables, byte[] value) {
        long until = store.stats().memtablesSealed() + memtables;
        while (store.stats().memtablesSealed() < until) {
            store.put(ByteBuffer.allocate(8).putLong(written++ * 0x9E3779B97F4A7C15L).array(), value);
            while (!tasks.isEmpty()) {
                tasks.poll().run();
            }
        }
    }

    /** Takes all memory for calls. */
    private List<Long> hoard() {
        List<Long> hoard = new ArrayList<>();
        MemoryPool pool = environment.buffers();
        for (long block = pool.allocate(MemoryPool.BLOCK_BYTES_MIN); block != 0; block = pool.allocate(MemoryPool.BLOCK_BYTES_MIN)) {
            hoard.add(block);
        }
        return hoard;
    }

    /** Not only when as many memtables as lie between two checkpoints were packed again: the log would be twice as long by then. */
    @Test
    void oneThatFindsNoSpaceIsMadeWithTheNextMemtable() {
        try (environment; KeyValueStore store = environment.open(directory, OPTIONS)) {
            pack(store, DISTANCE);
            assertEquals(1, store.stats().checkpoints());
            isFull = true;
            pack(store, DISTANCE + 1);
            assertEquals(1, store.stats().checkpoints(), "there was no space");
            isFull = false;
            pack(store, 1);
            assertEquals(2, store.stats().checkpoints());
        }
    }

    /** It was not for as long as they held it, or not before as many memtables again were packed, and the log was twice as long by then. */
    @Test
    void oneIsMadeWhateverMemoryCallsHold() {
        try (environment; KeyValueStore store = environment.open(directory, OPTIONS)) {
            pack(store, DISTANCE);
            assertEquals(1, store.stats().checkpoints());
            List<Long> hoard = hoard();
            pack(store, DISTANCE);
            assertEquals(2, store.stats().checkpoints());
            hoard.forEach(block -> environment.buffers().free(block, MemoryPool.BLOCK_BYTES_MIN));
        }
    }

    /** The background went on counting from its own last one, and made another soon after. */
    @Test
    void countsFromACheckpointThatSomebodyAskedFor() {
        try (environment; KeyValueStore store = environment.open(directory, OPTIONS)) {
            pack(store, DISTANCE / 2);
            store.checkpoint();
            assertEquals(1, store.stats().checkpoints());
            pack(store, DISTANCE - 1);
            assertEquals(1, store.stats().checkpoints());
            pack(store, 1);
            assertEquals(2, store.stats().checkpoints());
        }
    }

    /** An empty memtable takes any entry: they counted as one each, and the log grew to many times what lies between two checkpoints. */
    @Test
    void memtablesThatAreLargerCountByTheirBytes() {
        StoreOptions far = OPTIONS.toBuilder().checkpointDistance(LARGE_FULL * DISTANCE).build();
        try (environment; KeyValueStore store = environment.open(directory, far)) {
            pack(store, DISTANCE - 1, LARGE);
            assertEquals(0, store.stats().checkpoints());
            pack(store, 1, LARGE);
            assertEquals(1, store.stats().checkpoints());
        }
    }

    /** Even where each is as large as all that is asked for: their log is short. */
    @Test
    void aFewThatAreLargerCountAsOneEach() {
        try (environment; KeyValueStore store = environment.open(directory, OPTIONS)) {
            pack(store, 3, LARGE);
            assertEquals(0, store.stats().checkpoints());
            pack(store, 1, LARGE);
            assertEquals(1, store.stats().checkpoints());
        }
    }
}
