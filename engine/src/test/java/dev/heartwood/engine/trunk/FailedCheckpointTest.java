package dev.heartwood.engine.trunk;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.DeviceKind;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.checkpoint.Checkpointer;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.log.LogOptions;
import dev.heartwood.engine.log.WriteAheadLog;
import dev.heartwood.engine.merge.History;
import dev.heartwood.engine.merge.TrunkFixture;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.TreeShape;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.lang.management.LockInfo;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FailedCheckpointTest {
    private static final TreeShape SHAPE = new TreeShape(8, 4, 4096, 8192, 16384);
    private static final long SEQUENCE = 1000;

    private static void write(TrunkFixture tree, int round) {
        for (int i = 0; i < 100; i++) {
            tree.put("key" + i, "round " + round + " value ".repeat(20));
        }
        tree.pack();
    }

    /** Statistics are asked for within an epoch, in which nobody may wait for the device. */
    @Test
    void whatIsCountedIsToldBesideACheckpoint() {
        ArrayDevice blocks = new ArrayDevice();
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, new History.Append(true));
                Superblocks superblocks = new Superblocks(blocks, tree.pool)) {
            Superblock none = new Superblock(1, TrunkFixture.STORE_ID, 1, 0, 0, 1, new long[0], 0, "");
            AtomicReference<Checkpointer> made = new AtomicReference<>();
            List<Thread.State> seen = new ArrayList<>();
            // Asked for by the checkpoint that is under way, which has its monitor.
            LongSupplier lastSequence = () -> {
                Checkpointer checkpointer = made.get();
                seen.add(stateOfReader(() -> checkpointer.completed() + checkpointer.extentsAtLast(), checkpointer));
                return SEQUENCE;
            };
            Checkpointer checkpointer = new Checkpointer(
                    tree.storage, tree.trunk, tree.images, superblocks, null, lastSequence, none, tree.trunk.pin(), 0, failure -> {});
            made.set(checkpointer);
            write(tree, 0);
            blocks.failWritesAfter(0);
            assertThrows(StoreIoException.class, checkpointer::run);
            assertEquals(List.of(Thread.State.TERMINATED), seen);
            tree.storage.close();
            tree.releaseAll();
        }
    }

    /** What becomes of a thread that asks: it ends, or it waits for the monitor, which the caller has. */
    private static Thread.State stateOfReader(LongSupplier question, Object monitor) {
        Thread reader = Thread.ofPlatform().daemon().start(question::getAsLong);
        while (reader.getState() != Thread.State.TERMINATED && !waitsFor(reader, monitor)) {
            Thread.onSpinWait();
        }
        return reader.getState();
    }

    /** The JVM has a thread wait for monitors of its own, too, as while it loads a class. */
    private static boolean waitsFor(Thread thread, Object monitor) {
        ThreadInfo info = ManagementFactory.getThreadMXBean().getThreadInfo(thread.threadId());
        LockInfo awaited = info == null ? null : info.getLockInfo();
        return awaited != null && awaited.getIdentityHashCode() == System.identityHashCode(monitor);
    }

    private static void withLog(Path directory, BiConsumer<TrunkFixture, Checkpointer> test) {
        ArrayDevice blocks = new ArrayDevice();
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, new History.Append(true));
                FileStorage storage = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED);
                WriteAheadLog log = WriteAheadLog.create(storage, TrunkFixture.STORE_ID, 1, new LogOptions(16 << 10, 64 << 10));
                Superblocks superblocks = new Superblocks(blocks, tree.pool)) {
            Superblock none = new Superblock(1, TrunkFixture.STORE_ID, 1, 0, 0, 1, new long[0], 0, "");
            Checkpointer checkpointer = new Checkpointer(
                    tree.storage, tree.trunk, tree.images, superblocks, log, () -> SEQUENCE, none, tree.trunk.pin(), 0, failure -> {});
            test.accept(tree, checkpointer);
            tree.storage.close();
            tree.releaseAll();
        }
    }

    /** Calls may hold all memory that they share with it for as long as they like, and a store that closes has one checkpoint. */
    @Test
    void aCheckpointNeedsNoMemoryThatCallsMayHold(@TempDir Path directory) {
        withLog(directory, (tree, checkpointer) -> {
            write(tree, 0);
            List<Long> held = new ArrayList<>();
            for (long block = tree.pool.allocate(PageLayout.PAGE_BYTES); block != 0; block = tree.pool.allocate(PageLayout.PAGE_BYTES)) {
                held.add(block);
            }
            checkpointer.run();
            assertEquals(1, checkpointer.completed());
            held.forEach(block -> tree.pool.free(block, PageLayout.PAGE_BYTES));
        });
    }

    /** A node of it may lie where the first attempt wrote another: were that write lost, the other would be read. */
    @Test
    void anotherAttemptIsOfAnotherGeneration(@TempDir Path directory) {
        withLog(directory, (tree, checkpointer) -> {
            for (int round = 0; round < 10; round++) {
                write(tree, round);
                tree.settle(Urge.SETTLING);
            }
            tree.storage.file().writeBackAll();
            tree.device.failWritesAfter(1);
            assertThrows(StoreIoException.class, checkpointer::run);
            Set<Long> broken = nodeGenerations(tree.device);
            assertEquals(1, broken.size());
            tree.device.failWritesAfter(Long.MAX_VALUE);
            checkpointer.run();
            assertFalse(broken.contains(checkpointer.durable().rootGeneration()));
        });
    }

    private static Set<Long> nodeGenerations(ArrayDevice device) {
        Set<Long> generations = new HashSet<>();
        for (long page = 0; page < device.size() / PageLayout.PAGE_BYTES; page++) {
            byte[] block = device.block(page);
            if (block != null && block[PageLayout.TYPE] == PageType.TRUNK.code()) {
                generations.add(ByteBuffer.wrap(block).order(ByteOrder.LITTLE_ENDIAN).getLong(PageLayout.GENERATION));
            }
        }
        return generations;
    }

    /** The first copy of the superblock was written, the second one was not: the next start goes by the first. */
    @Test
    void whatASuperblockMayNameIsNotUsedAgain() {
        ArrayDevice blocks = new ArrayDevice();
        List<Throwable> told = new ArrayList<>();
        try (TrunkFixture tree = new TrunkFixture(SHAPE, TrunkPolicies.SIZE_TIERED, new History.Append(true));
                Superblocks superblocks = new Superblocks(blocks, tree.pool)) {
            Superblock none = new Superblock(1, TrunkFixture.STORE_ID, 1, 0, 0, 1, new long[0], 0, "");
            Checkpointer checkpointer = new Checkpointer(
                    tree.storage, tree.trunk, tree.images, superblocks, null, () -> SEQUENCE, none, tree.trunk.pin(), 0, told::add);
            write(tree, 0);
            NavigableMap<String, String> expected = tree.history.at(Entries.NEWEST);
            blocks.failWritesAfter(1);

            StoreIoException failure = assertThrows(StoreIoException.class, checkpointer::run);

            assertEquals(List.of(failure), told);
            assertThrows(PreviousFailureException.class, checkpointer::run);
            Superblock named = superblocks.copies()[0].superblock();
            assertEquals(2, named.number());
            for (int round = 1; round < 10; round++) {
                write(tree, round);
                tree.settle(Urge.SETTLING);
                tree.epochs.reclaim();
            }
            tree.storage.file().writeBackAll();
            TrunkImages.Found found = new TrunkImages.Found(
                    named.rootPages(), named.rootGeneration(), named.generation(), named.nextId());
            try (TrunkFixture again = new TrunkFixture(
                    tree.device, found, SHAPE, TrunkPolicies.SIZE_TIERED, tree.operator())) {
                assertEquals(expected, again.scan(again.trunk.version(), Entries.NEWEST, null, true));
                again.releaseAll();
            }
            tree.storage.close();
            tree.releaseAll();
        }
    }
}
