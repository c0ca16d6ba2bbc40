package dev.heartwood.engine.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.background.QueuedWorkers;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Intercepted;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the scrubber reads, step by step. */
class ScrubberTest {
    private static final long BYTES_PER_SECOND = 64 << 10;
    private static final StoreOptions OPTIONS = StoreOptions.builder()
            .memtable(ByteSize.kib(256))
            .scrubPerSecond(new ByteSize(BYTES_PER_SECOND))
            .build();

    @TempDir
    private Path directory;

    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private Runnable step;
    /** How long its steps have had it wait, together. */
    private long delayNanos;
    /** Pages of leaves that are read with a bit wrong: each with a number that this divides; 0 for none. */
    private int rotten;

    private long bytesRead;
    private int trunkReads;
    /** Pages of this type cannot be read for want of memory. */
    private PageType refused;

    private final EngineEnvironment environment = EngineEnvironment.open(
            EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build(),
            path -> storage(new FileStorage(path, DeviceKind.POSIX, IoMode.BUFFERED)),
            new Surroundings(count -> new Stepped(), Clock.SYSTEM, Randomness.SYSTEM, 1));

    /** Has the scrubber's timer, the only one of its priority, run by the test. */
    private final class Stepped extends QueuedWorkers {
        Stepped() {
            super(tasks);
        }

        @Override
        public Timer timer(Priority priority, Runnable task) {
            if (priority != Priority.IDLE) {
                return super.timer(priority, task);
            }
            step = task;
            return nanos -> delayNanos += nanos;
        }
    }

    private Storage storage(Storage files) {
        return Intercepted.proxy(
                Storage.class, files, (method, arguments, result) -> result instanceof BlockDevice device ? device(device) : result);
    }

    private BlockDevice device(BlockDevice device) {
        return Intercepted.proxy(BlockDevice.class, device, (method, arguments, result) -> {
            if (method.equals("read")) {
                read((long) arguments[0], (long) arguments[1], (int) arguments[2]);
            }
            return result;
        });
    }

    private void read(long position, long address, int length) {
        bytesRead += length;
        for (int at = 0; at < length; at += PageLayout.PAGE_BYTES) {
            int type = Memory.getByte(address + at + PageLayout.TYPE);
            long page = (position + at) / PageLayout.PAGE_BYTES;
            if (refused != null && type == refused.code()) {
                throw new InsufficientMemoryException("for a test");
            }
            if (rotten > 0 && type == PageType.BRANCH_LEAF.code() && page % rotten == 0) {
                Memory.putByte(address + at + 700, (byte) ~Memory.getByte(address + at + 700));
            }
            trunkReads += type == PageType.TRUNK.code() ? 1 : 0;
        }
    }

    /** A store at rest. */
    private KeyValueStore open(int records) {
        KeyValueStore store = environment.open(directory, OPTIONS);
        for (int i = 0; i < records; i++) {
            store.put(ByteBuffer.allocate(8).putLong(i * 0x9E3779B97F4A7C15L).array(), new byte[1000]);
            while (!tasks.isEmpty()) {
                tasks.poll().run();
            }
        }
        store.settle();
        store.checkpoint();
        return store;
    }

    private int trunkReadsOfPass(KeyValueStore store) {
        trunkReads = 0;
        pass(store);
        return trunkReads;
    }

    private void pass(KeyValueStore store) {
        long passes = store.stats().scrubs();
        while (store.stats().scrubs() == passes) {
            step.run();
        }
    }

    /** Sound pages were reported as damaged. */
    @Test
    void pagesThatThereIsNoMemoryToReadAreNotDamaged() {
        try (environment; KeyValueStore store = open(1000)) {
            pass(store);
            for (PageType type : new PageType[] {PageType.BRANCH_LEAF, PageType.FILTER}) {
                refused = type;
                for (int i = 0; i < 200; i++) {
                    step.run();
                }
                refused = null;
                assertEquals(0, store.stats().damagedPages(), type.name());
            }
            long scrubbed = store.stats().pagesScrubbed();
            pass(store);
            pass(store);
            assertTrue(store.stats().pagesScrubbed() > scrubbed + 250);
            assertEquals(0, store.stats().damagedPages());
        }
    }

    /** For each damaged run the whole trunk was read again, in every pass, and none of that counted for the rate. */
    @Test
    void damageThatIsKnownCostsNoMoreLooksAtTheTrunk() {
        try (environment; KeyValueStore store = open(4000)) {
            pass(store);
            int sound = trunkReadsOfPass(store);
            rotten = 5;
            pass(store);
            assertTrue(store.stats().damagedPages() > 150, store.stats().damagedPages() + " damaged pages");
            long damaged = store.stats().damagedPages();
            assertEquals(sound, trunkReadsOfPass(store));
            assertEquals(damaged, store.stats().damagedPages());
            rotten = 3;
            pass(store);
            assertTrue(store.stats().damagedPages() > damaged, "pages of runs with known damage");
        }
    }

    @Test
    void whatIsReadToFindDamageCountsForTheRate() {
        try (environment; KeyValueStore store = open(4000)) {
            pass(store);
            for (int each : new int[] {0, 32, 32, 5, 5}) {
                rotten = each;
                bytesRead = 0;
                delayNanos = 0;
                pass(store);
                long nanos = 1_000_000_000L * bytesRead / BYTES_PER_SECOND;
                assertTrue(delayNanos >= nanos - 1000, bytesRead + " bytes in " + delayNanos + " ns; " + each);
            }
        }
    }
}
