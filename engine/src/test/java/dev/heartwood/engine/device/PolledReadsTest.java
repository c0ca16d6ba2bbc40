package dev.heartwood.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.FileCalls;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.os.Uring;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads that poll and reads that do not, of a real file whose pages are told apart. */
class PolledReadsTest {
    private static final int PAGE = BlockDevice.ALIGNMENT;
    private static final int PAGES = 64;

    /** By which nothing takes long and no pause ends. */
    private static final Clock STANDING = () -> 0;

    private final TestDirectory directory = TestDirectory.make();
    private final MemoryPool memory = MemoryPool.open(16 << 20);
    private final Directory files = new Directory(directory.path());
    private final OpenFile file = DataFiles.create(files, "data", IoMode.DIRECT);
    private final AtomicInteger blocked = new AtomicInteger();
    private final AtomicInteger made = new AtomicInteger();
    private RingPool pool;

    private long block(int descriptor, long address, long length, long position) {
        blocked.incrementAndGet();
        return DeviceBinding.POSIX.calls().pread(descriptor, address, length, position);
    }

    @BeforeEach
    void fill() {
        FileDevice device = new FileDevice(file, DeviceBinding.POSIX.calls(), ImmediateQueue::new);
        device.retain();
        device.allocate((long) PAGES * PAGE);
        long page = memory.allocate(PAGE);
        for (int i = 0; i < PAGES; i++) {
            Memory.putLong(page, i);
            Memory.putLong(page + PAGE - Long.BYTES, ~i);
            device.write((long) i * PAGE, page, PAGE);
        }
        memory.free(page, PAGE);
        device.close();
    }

    @AfterEach
    void close() {
        if (pool != null) {
            pool.release();
        }
        FileCalls.close(file.descriptor());
        files.close();
        memory.close();
        directory.close();
    }

    private PolledReads reads(IntFunction<Uring> maker, int threadsMax, Clock clock, Runnable yield) {
        pool = new RingPool(entries -> {
            made.incrementAndGet();
            return maker.apply(entries);
        }, RingPool.POLLED_MAX);
        pool.retain();
        return new PolledReads(this::block, pool, new PollingPatience(clock, yield), threadsMax);
    }

    private PolledReads reads(int threadsMax) {
        return reads(Uring::openCooperative, threadsMax, STANDING, Thread::yield);
    }

    private void check(PolledReads reads, int first, int count) {
        long address = memory.allocate((long) count * PAGE);
        try {
            assertEquals(
                    (long) count * PAGE,
                    reads.transfer(file.descriptor(), address, (long) count * PAGE, (long) first * PAGE));
            for (int i = 0; i < count; i++) {
                assertEquals(first + i, Memory.getLong(address + (long) i * PAGE));
                assertEquals(~(long) (first + i), Memory.getLong(address + (long) (i + 1) * PAGE - Long.BYTES));
            }
        } finally {
            memory.free(address, (long) count * PAGE);
        }
    }

    @Test
    void readsWithoutBlockingThroughOneRing() {
        PolledReads reads = reads(1);
        check(reads, 3, 1);
        check(reads, 8, 2);
        assertEquals(0, blocked.get());
        assertEquals(1, made.get());
    }

    @Test
    void tellsTheEndOfTheFileAndErrorsAsPreadDoes() {
        PolledReads reads = reads(1);
        long address = memory.allocate(PAGE);
        assertEquals(0, reads.transfer(file.descriptor(), address, PAGE, (long) PAGES * PAGE));
        assertEquals(-Errno.EBADF, reads.transfer(Integer.MAX_VALUE, address, PAGE, 0));
        check(reads, 5, 1);
    }

    @Test
    void longReadsAndVirtualThreadsBlock() throws InterruptedException {
        PolledReads reads = reads(1);
        check(reads, 0, 16);
        assertEquals(1, blocked.get());
        AtomicInteger checked = new AtomicInteger();
        Thread.ofVirtual()
                .start(() -> {
                    check(reads, 7, 1);
                    checked.incrementAndGet();
                })
                .join();
        assertEquals(1, checked.get());
        assertEquals(2, blocked.get());
        assertEquals(0, made.get());
    }

    @Test
    void whoWasHeldUpReadsTheSameAndTheNextBlock() {
        AtomicLong now = new AtomicLong();
        AtomicInteger heldUp = new AtomicInteger();
        PolledReads reads = reads(Uring::openCooperative, 1, now::get, () -> {
            now.addAndGet(PollingPatience.AWAY_NANOS_MAX + 1);
            heldUp.incrementAndGet();
        });
        for (int i = 0; i < 1_000 && heldUp.get() == 0; i++) {
            check(reads, i % PAGES, 1); // one that is done at once is not held up
        }
        assertEquals(1, heldUp.get());
        assertEquals(0, blocked.get());
        check(reads, 9, 1);
        assertEquals(1, blocked.get());
        assertEquals(1, made.get());
    }

    @Test
    void moreThreadsThanMayPollBlock() {
        PolledReads reads = reads(0);
        check(reads, 1, 1);
        check(reads, 2, 1);
        assertEquals(2, blocked.get());
        assertEquals(0, made.get());
    }

    @Test
    void withoutRingsReadsBlock() {
        PolledReads reads = reads(
                entries -> {
                    throw new StoreIoException(Errno.ENOSYS, "ENOSYS", "io_uring_setup", "io_uring", -1);
                },
                1,
                STANDING,
                Thread::yield);
        check(reads, 1, 1);
        check(reads, 2, 1);
        assertEquals(2, blocked.get());
        assertEquals(1, made.get());
    }

    @Test
    void withAFullHeapReadsBlock() {
        PolledReads reads = reads(
                entries -> {
                    throw new OutOfMemoryError("for a test");
                },
                1,
                STANDING,
                Thread::yield);
        check(reads, 1, 1);
        assertEquals(1, blocked.get());
    }

    @Test
    void anErrorWhileARingIsMadeTakesNoPlace() {
        boolean[] fails = {true};
        PolledReads reads = reads(
                entries -> {
                    if (fails[0]) {
                        throw new LinkageError("for a test");
                    }
                    return Uring.openCooperative(entries);
                },
                1,
                STANDING,
                Thread::yield);
        assertThrows(LinkageError.class, () -> check(reads, 1, 1));
        fails[0] = false;
        check(reads, 2, 1);
        assertEquals(0, blocked.get());
    }

    @Test
    void aRingThatTakesNothingIsGivenUp() {
        PolledReads reads = reads(
                entries -> {
                    Set<Integer> before = rings();
                    Uring ring = Uring.openCooperative(entries);
                    Set<Integer> rings = rings();
                    rings.removeAll(before);
                    assertEquals(1, rings.size());
                    rings.forEach(FileCalls::close);
                    return ring;
                },
                1,
                STANDING,
                Thread::yield);
        check(reads, 4, 1);
        check(reads, 5, 1);
        assertEquals(2, blocked.get());
        assertEquals(1, made.get());
    }

    private static Set<Integer> rings() {
        Set<Integer> descriptors = new HashSet<>();
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            open.forEach(path -> descriptors.add(Integer.valueOf(path.getFileName().toString())));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        // The listing had one of its own, which is free again.
        descriptors.removeIf(descriptor -> !isRing(descriptor));
        return descriptors;
    }

    private static boolean isRing(int descriptor) {
        try {
            return Files.readSymbolicLink(Path.of("/proc/self/fd/" + descriptor)).toString().contains("io_uring");
        } catch (IOException e) {
            return false;
        }
    }

    @Test
    void manyThreadsReadTheirOwnPages() throws Exception {
        int count = 6;
        PolledReads reads = reads(count - 1);
        try (var threads = Executors.newFixedThreadPool(count)) {
            List<Future<?>> done = new ArrayList<>();
            for (int t = 0; t < count; t++) {
                SplittableRandom random = new SplittableRandom(t);
                done.add(threads.submit(() -> {
                    for (int i = 0; i < 400; i++) {
                        check(reads, random.nextInt(PAGES - 1), 1 + (i & 1));
                    }
                }));
            }
            for (Future<?> each : done) {
                each.get();
            }
        }
        assertTrue(made.get() >= 1 && made.get() <= count - 1, made + " rings");
        assertTrue(blocked.get() < count * 400, blocked + " reads blocked");
    }
}
