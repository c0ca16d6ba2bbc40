package dev.heartwood.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ClosedException;
import dev.heartwood.CorruptionException;
import dev.heartwood.DeviceKind;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What every device must do, on real files. */
class BlockDeviceTest {
    private static final int PAGE = BlockDevice.ALIGNMENT;

    private final TestDirectory directory = TestDirectory.make();
    private final MemoryPool pool = MemoryPool.open(16 << 20);
    private FileStorage storage;

    @AfterEach
    void close() {
        if (storage != null) {
            storage.close();
        }
        pool.close();
        directory.close();
    }

    private BlockDevice create(DeviceKind kind) {
        storage = new FileStorage(directory.path(), kind, IoMode.DIRECT);
        return storage.openDevice("data", true);
    }

    private void mark(long page, long value) {
        for (int i = 0; i < PAGE; i += 8) {
            Memory.putLong(page + i, value * 0x9E3779B97F4A7C15L + i);
        }
    }

    private void assertMarked(long page, long value) {
        for (int i = 0; i < PAGE; i += 8) {
            assertEquals(value * 0x9E3779B97F4A7C15L + i, Memory.getLong(page + i), "page " + value + " at " + i);
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void readsWhatWasWritten(DeviceKind kind) {
        try (BlockDevice device = create(kind)) {
            long a = pool.allocate(64 * PAGE);
            for (int i = 0; i < 64; i++) {
                mark(a + i * PAGE, i);
            }
            device.write(0, a, 32 * PAGE);
            device.write(40 * PAGE, a + 32 * PAGE, 32 * PAGE);
            device.sync();
            assertEquals(64 * PAGE, device.bytesWritten());
            Memory.fill(a, 64 * PAGE, 1);
            device.read(0, a, 32 * PAGE);
            device.read(40 * PAGE, a + 32 * PAGE, 32 * PAGE);
            for (int i = 0; i < 64; i++) {
                assertMarked(a + i * PAGE, i);
            }
            device.read(36 * PAGE, a, PAGE);
            assertEquals(0, Memory.getLong(a));
            assertEquals(65 * PAGE, device.bytesRead());
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void writesScatteredPages(DeviceKind kind) {
        try (BlockDevice device = create(kind)) {
            int count = 1500;
            long a = pool.allocate((long) count * PAGE);
            long[] addresses = new long[count];
            // Runs of neighbours, and more pieces than one call takes.
            for (int i = 0; i < count; i++) {
                addresses[i] = a + (i / 2 * 7919L * 2 + i % 2) % count * PAGE;
                mark(addresses[i], i);
            }
            device.writePages(8 * PAGE, addresses, count);
            device.writePages(0, addresses, 0);
            long page = pool.allocate(PAGE);
            for (int i = 0; i < count; i++) {
                device.read((8L + i) * PAGE, page, PAGE);
                assertMarked(page, i);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void allocatesAndDiscards(DeviceKind kind) throws IOException {
        try (BlockDevice device = create(kind)) {
            assertEquals(0, device.size());
            device.allocate(1 << 20);
            device.allocate(1 << 18);
            assertEquals(1 << 20, device.size());
            assertEquals(1 << 20, Files.size(directory.path().resolve("data")));
            assertTrue(allocatedBytes() >= 1 << 20);
            long a = pool.allocate(PAGE);
            device.read((1 << 20) - PAGE, a, PAGE);
            assertEquals(0, Memory.getLong(a));
            mark(a, 5);
            device.write(PAGE, a, PAGE);
            device.discard(0, 1 << 19);
            device.discard(0, 0);
            assertTrue(allocatedBytes() <= 1 << 19);
            device.read(PAGE, a, PAGE);
            assertEquals(0, Memory.getLong(a));
            assertEquals(1 << 20, device.size());
        }
    }

    private long allocatedBytes() throws IOException {
        Process stat = new ProcessBuilder("stat", "-c", "%b", directory.path() + "/data").start();
        return 512 * Long.parseLong(new String(stat.getInputStream().readAllBytes()).strip());
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void refusesWhatTheDeviceCannotHold(DeviceKind kind) {
        try (BlockDevice device = create(kind)) {
            // Longer than the device, or than any file may be.
            assertThrows(NoSpaceException.class, () -> device.allocate(1L << 50));
            device.allocate(PAGE);
            assertEquals(PAGE, device.size());
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void refusesMisalignedTransfers(DeviceKind kind) {
        try (BlockDevice device = create(kind);
                IoQueue queue = device.newQueue(1)) {
            long a = pool.allocate(2 * PAGE);
            assertThrows(IllegalArgumentException.class, () -> device.read(1, a, PAGE));
            assertThrows(IllegalArgumentException.class, () -> device.write(0, a + 512, PAGE));
            assertThrows(IllegalArgumentException.class, () -> device.write(0, a, 100));
            assertThrows(IllegalArgumentException.class, () -> queue.read(0, a, 0, 1));
            assertThrows(IllegalArgumentException.class, () -> queue.read(-PAGE, a, PAGE, 1));
            assertThrows(IllegalArgumentException.class, () -> device.newQueue(0));
            assertThrows(IllegalArgumentException.class, () -> device.newQueue(257));
            assertEquals(0, queue.pending());
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void readingPastTheEndIsDamage(DeviceKind kind) throws IOException {
        try (BlockDevice device = create(kind);
                IoQueue queue = device.newQueue(4)) {
            device.allocate(2 * PAGE);
            Files.write(directory.path().resolve("data"), new byte[PAGE + 700]);
            long a = pool.allocate(4 * PAGE);
            assertThrows(CorruptionException.class, () -> device.read(0, a, 2 * PAGE));
            CorruptionException past = assertThrows(CorruptionException.class, () -> device.read(4 * PAGE, a, PAGE));
            assertEquals(4, past.page());
            queue.read(PAGE, a, PAGE, 70);
            queue.read(0, a + PAGE, PAGE, 71);
            int failures = 0;
            for (int i = 0; i < 2; i++) {
                try {
                    assertEquals(71, queue.await());
                } catch (CorruptionException e) {
                    assertEquals(70, queue.failedTag());
                    failures++;
                }
            }
            assertEquals(1, failures);
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void queueCompletesEverythingOnce(DeviceKind kind) {
        long seed = 4;
        SplittableRandom random = new SplittableRandom(seed);
        int pages = 256;
        try (BlockDevice device = create(kind);
                IoQueue queue = device.newQueue(16)) {
            device.allocate((long) pages * PAGE);
            long a = pool.allocate(16 * PAGE);
            long[] versions = new long[pages];
            int[] slotPage = new int[16];
            boolean[] slotWrites = new boolean[16];
            BitSet slots = new BitSet();
            BitSet busyPages = new BitSet();
            for (int step = 0; step < 4000; step++) {
                int slot = slots.nextClearBit(0);
                int page = random.nextInt(pages);
                if (slot < 16 && !busyPages.get(page) && random.nextInt(3) > 0) {
                    slots.set(slot);
                    busyPages.set(page);
                    slotPage[slot] = page;
                    slotWrites[slot] = versions[page] == 0 || random.nextBoolean();
                    long address = a + slot * PAGE;
                    if (slotWrites[slot]) {
                        versions[page] = step + 1;
                        mark(address, versions[page]);
                        queue.write((long) page * PAGE, address, PAGE, slot);
                    } else {
                        Memory.fill(address, PAGE, 0);
                        queue.read((long) page * PAGE, address, PAGE, slot);
                    }
                    if (random.nextInt(4) == 0) {
                        queue.submit();
                    }
                } else if (queue.pending() > 0) {
                    int done = (int) queue.await();
                    assertTrue(slots.get(done), "seed " + seed + ", step " + step);
                    assertMarked(a + done * PAGE, versions[slotPage[done]]);
                    slots.clear(done);
                    busyPages.clear(slotPage[done]);
                }
                assertEquals(slots.cardinality(), queue.pending());
            }
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void queuesHaveLimits(DeviceKind kind) {
        try (BlockDevice device = create(kind)) {
            device.allocate(256 * PAGE);
            long a = pool.allocate(256 * PAGE);
            IoQueue queue = device.newQueue(256);
            assertThrows(IllegalStateException.class, queue::await);
            for (int i = 0; i < 256; i++) {
                queue.read((long) i * PAGE, a + (long) i * PAGE, PAGE, i);
            }
            assertThrows(IllegalStateException.class, () -> queue.read(0, a, PAGE, 256));
            queue.submit();
            BitSet tags = new BitSet();
            for (int i = 0; i < 250; i++) {
                tags.set((int) queue.await());
            }
            assertEquals(250, tags.cardinality());
            queue.close();
            queue.close();
            assertEquals(256, queue.depth());
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void refusesUseAfterClose(DeviceKind kind) {
        BlockDevice device = create(kind);
        long a = pool.allocate(PAGE);
        device.allocate(PAGE);
        IoQueue queue = device.newQueue(2);
        queue.read(0, a, PAGE, 1);
        assertEquals(1, queue.await());
        device.close();
        device.close();
        assertThrows(ClosedException.class, () -> device.read(0, a, PAGE));
        assertThrows(ClosedException.class, () -> device.write(0, a, PAGE));
        assertThrows(ClosedException.class, () -> device.writePages(0, new long[] {a}, 1));
        assertThrows(ClosedException.class, device::sync);
        assertThrows(ClosedException.class, () -> device.allocate(2 * PAGE));
        assertThrows(ClosedException.class, () -> device.discard(0, PAGE));
        assertThrows(ClosedException.class, () -> device.newQueue(1));
        try {
            queue.read(0, a, PAGE, 2);
            queue.await();
            throw new AssertionError("a closed device was read");
        } catch (ClosedException e) {
            queue.close();
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void servesManyThreads(DeviceKind kind) throws Exception {
        try (BlockDevice device = create(kind);
                var threads = Executors.newFixedThreadPool(4)) {
            device.allocate(4 * 64 * PAGE);
            List<Future<?>> results = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                long first = t * 64L;
                long buffer = pool.allocate(8 * PAGE);
                results.add(threads.submit(() -> writeAndReadPages(device, first, buffer)));
            }
            for (Future<?> result : results) {
                result.get();
            }
            assertEquals(4 * 64 * PAGE, device.bytesWritten());
            assertEquals(4 * 64 * PAGE, device.bytesRead());
        }
    }

    private Void writeAndReadPages(BlockDevice device, long first, long buffer) {
        for (long page = first; page < first + 64; page += 8) {
            try (IoQueue queue = device.newQueue(8)) {
                for (int i = 0; i < 8; i++) {
                    mark(buffer + i * PAGE, page + i);
                    queue.write((page + i) * PAGE, buffer + i * PAGE, PAGE, i);
                }
                while (queue.pending() > 0) {
                    queue.await();
                }
            }
            for (int i = 0; i < 8; i++) {
                device.read((page + i) * PAGE, buffer, PAGE);
                assertMarked(buffer, page + i);
            }
        }
        return null;
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void aQueueMayChangeHands(DeviceKind kind) throws Exception {
        try (BlockDevice device = create(kind);
                IoQueue queue = device.newQueue(8)) {
            device.allocate(8 * PAGE);
            long buffer = pool.allocate(8 * PAGE);
            Thread first = Thread.ofPlatform().start(() -> {
                for (int i = 0; i < 8; i++) {
                    queue.read(i * PAGE, buffer + i * PAGE, PAGE, i);
                }
                queue.submit();
            });
            first.join();
            BitSet tags = new BitSet();
            while (queue.pending() > 0) {
                tags.set((int) queue.await());
            }
            assertEquals(8, tags.cardinality());
        }
    }

    /** An operation that is queued when its device is closed must not reach a file that got the same descriptor. */
    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void queuedOperationsReachNoOtherFile(DeviceKind kind) {
        BlockDevice device = create(kind);
        device.allocate(PAGE);
        long page = pool.allocate(PAGE);
        Memory.fill(page, PAGE, 7);
        IoQueue queue = device.newQueue(2);
        queue.write(0, page, PAGE, 1);
        device.close();
        try (BlockDevice other = storage.openDevice("other", true)) {
            other.allocate(PAGE);
            queue.close();
            other.read(0, page, PAGE);
            assertEquals(0, Memory.getLong(page));
        }
    }

    /** Contexts of AIO have no descriptors and are kept, so that nobody waits for the kernel to end them: as many as were used at once. */
    @Test
    void contextsAreUsedAgain() throws IOException {
        long before = contexts();
        for (int i = 0; i < 20; i++) {
            try (FileStorage opened = new FileStorage(directory.path(), DeviceKind.AIO, IoMode.DIRECT);
                    BlockDevice device = opened.openDevice("data" + i, true);
                    IoQueue one = device.newQueue(8);
                    IoQueue two = device.newQueue(8)) {
                assertEquals(16, one.depth() + two.depth());
            }
        }
        // One for each queue, and perhaps one to see whether there are any.
        assertTrue(contexts() <= before + 3, before + " contexts became " + contexts());
    }

    private static long contexts() throws IOException {
        try (var mappings = Files.lines(Path.of("/proc/self/maps"))) {
            return mappings.filter(line -> line.contains("[aio]")).count();
        }
    }

    @ParameterizedTest
    @EnumSource(DeviceKind.class)
    void leaksNoDescriptors(DeviceKind kind) {
        try (BlockDevice warm = create(kind);
                IoQueue queue = warm.newQueue(1)) {
            assertEquals(1, queue.depth());
        }
        storage.close();
        long before = TestDirectory.openDescriptors(directory.path());
        int rounds = 20;
        for (int i = 0; i < rounds; i++) {
            try (FileStorage opened = new FileStorage(directory.path(), kind, IoMode.DIRECT)) {
                opened.lock();
                try (BlockDevice device = opened.openDevice("data", false);
                        IoQueue one = device.newQueue(8);
                        IoQueue two = device.newQueue(200);
                        MappedFile mapped = opened.openMapped("log", 1 << 16)) {
                    assertEquals(0, one.pending() + two.pending());
                    assertTrue(mapped.length() > 0);
                }
                opened.list();
                opened.writeFile("note", new byte[3]);
                opened.readFile("note", 10);
                opened.bootId();
                assertThrows(StoreException.class, () -> opened.openDevice("data", true));
                assertThrows(StoreException.class, () -> opened.openDevice("none", false));
                assertThrows(StoreException.class, () -> opened.openMappedExisting("none"));
            }
        }
        // A leak shows in every round; queues of other tests may open and close meanwhile.
        long after = TestDirectory.openDescriptors(directory.path());
        assertTrue(after < before + rounds, before + " descriptors became " + after);
    }
}
