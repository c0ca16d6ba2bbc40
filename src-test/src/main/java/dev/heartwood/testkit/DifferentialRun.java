package dev.heartwood.testkit;

import dev.heartwood.ClosedException;
import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.StoreTuning;
import dev.heartwood.UnorderedStoreException;
import dev.heartwood.WriteBatch;
import dev.heartwood.engine.store.StorePolicies;
import dev.heartwood.engine.trunk.Trunk.Heights;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.random.RandomGenerator;

/** Applies operations to a store and to the {@link Model} and compares every answer. Belongs to one thread. */
final class DifferentialRun implements AutoCloseable {
    private static final int VIEWS_MAX = 4;
    /** Beyond it nothing is added to a batch: with one write more it is still less than the least memory takes. */
    private static final int BATCH_BYTES_ENOUGH = 512 << 10;

    private static final Durability[] LEVELS = Durability.values();
    private static final CompactionPolicyKind[] POLICIES = CompactionPolicyKind.values();
    private static final CompactionPolicyKind[] NODE_POLICIES =
            Arrays.stream(POLICIES).filter(policy -> policy != CompactionPolicyKind.AUTO).toArray(CompactionPolicyKind[]::new);

    /** Leaks are made on purpose here; their reports would fill the log. Held, because a logger that is not forgets its level. */
    private static final Logger ENGINE_LOGGER = Logger.getLogger("dev.heartwood");

    private record View(Snapshot snapshot, NavigableMap<byte[], byte[]> expected) {}

    private final StoreHost host;
    private final KeySpace space;
    private final Model model = new Model(new TailMergeOperator());
    private final byte[][] lately = new byte[8][];
    private final List<View> views = new ArrayList<>();
    private final List<CursorCheck> cursors = new ArrayList<>();
    private KeyValueStore store;

    DifferentialRun(StoreHost host, KeySpace space, long seed) {
        this.host = host;
        this.space = space;
        store = host.open(new SplittableRandom(seed));
    }

    /** Executes one operation; throws when the store's answer is not the model's. */
    void execute(Operation operation) {
        RandomGenerator random = new SplittableRandom(operation.seed());
        switch (operation.action()) {
            case PUT -> writeOne(Write.Kind.PUT, random);
            case DELETE -> writeOne(Write.Kind.DELETE, random);
            case MERGE -> writeOne(Write.Kind.MERGE, random);
            case BATCH -> writeBatch(random);
            case GET -> get(random);
            case SNAPSHOT_OPEN -> openSnapshot();
            case SNAPSHOT_GET -> onView(random, view ->
                    Reads.compare(view.snapshot, space.key(random), view.expected, random));
            case SNAPSHOT_SCAN -> onView(random, view -> scanSnapshot(view, random));
            case SNAPSHOT_CLOSE -> closeSnapshot(random);
            case CURSOR_OPEN -> openCursor(random);
            case CURSOR_MOVE -> moveCursor(random);
            case CURSOR_CLOSE -> closeCursor(random);
            case SCAN -> scan(range(random, store::cursor), random);
            case SYNC -> {
                store.sync();
                model.synced();
            }
            case CHECKPOINT -> {
                store.checkpoint();
                model.checkpointed();
            }
            case SETTLE -> settle();
            case STATS -> check(
                    store.stats().snapshots() == views.size() + cursors.size(),
                    () -> "stats say " + store.stats().snapshots() + " views are open, " + (views.size() + cursors.size())
                            + " are");
            case REOPEN -> reopen(random);
            case CRASH -> crash(random);
            case DISCARD -> discard(random);
            case TUNE -> tune(store.tuning().withCheckpointDistance(1 << random.nextInt(8)));
            case POLICY -> changePolicy(random);
        }
        host.step();
    }

    private void writeOne(Write.Kind kind, RandomGenerator random) {
        Write write = newWrite(kind, random);
        boolean usual = random.nextBoolean();
        Durability level = usual ? store.options().durability() : LEVELS[random.nextInt(LEVELS.length)];
        int step = model.begin(level, List.of(write));
        try (Arena arena = Arena.ofConfined()) {
            Writes.apply(store, write, usual ? null : level, random, arena);
        }
        model.acknowledge(step);
    }

    private Write newWrite(Write.Kind kind, RandomGenerator random) {
        byte[] value =
                switch (kind) {
                    case PUT -> space.value(random);
                    case DELETE -> null;
                    case MERGE -> space.operand(random);
                };
        return new Write(kind, space.key(random), value);
    }

    private void writeBatch(RandomGenerator random) {
        Write.Kind[] kinds = Write.Kind.values();
        List<Write> writes = new ArrayList<>();
        int count = random.nextInt(4) == 0 ? random.nextInt(120) : random.nextInt(8);
        int bytes = 0;
        for (int i = 0; i < count && bytes < BATCH_BYTES_ENOUGH; i++) {
            Write write = newWrite(kinds[random.nextInt(kinds.length)], random);
            bytes += write.key().length + (write.value() == null ? 0 : write.value().length);
            writes.add(write);
        }
        Durability level = LEVELS[random.nextInt(LEVELS.length)];
        try (Arena arena = Arena.ofConfined();
                WriteBatch batch = store.newBatch()) {
            if (random.nextInt(4) == 0) {
                batch.put(new byte[] {1}, new byte[] {2});
                batch.clear();
            }
            writes.forEach(write -> Writes.add(batch, write, random, arena));
            check(batch.count() == writes.size(), () -> "a batch of " + writes.size() + " writes says " + batch.count());
            int step = model.begin(level, writes);
            store.write(batch, level);
            model.acknowledge(step);
        }
    }

    private void openSnapshot() {
        if (views.size() < VIEWS_MAX) {
            views.add(new View(store.snapshot(), model.snapshot()));
        }
    }

    private void onView(RandomGenerator random, Consumer<View> action) {
        if (!views.isEmpty()) {
            action.accept(views.get(random.nextInt(views.size())));
        }
    }

    private void scanSnapshot(View view, RandomGenerator random) {
        KeyRange range = range(random, view.snapshot::cursor);
        try (Cursor cursor = view.snapshot.cursor(range)) {
            new CursorCheck(cursor, view.expected, range, order()).walk(random);
        }
    }

    private void closeSnapshot(RandomGenerator random) {
        onView(random, view -> {
            view.snapshot.close();
            views.remove(view);
            expectClosed("snapshot", () -> view.snapshot.get(new byte[] {1}));
            view.snapshot.close();
        });
    }

    private void openCursor(RandomGenerator random) {
        if (cursors.size() < VIEWS_MAX) {
            KeyRange range = range(random, store::cursor);
            cursors.add(new CursorCheck(store.cursor(range), model.now(), range, order()));
        }
    }

    private void moveCursor(RandomGenerator random) {
        if (!cursors.isEmpty()) {
            CursorCheck cursor = cursors.get(random.nextInt(cursors.size()));
            int moves = 1 + random.nextInt(12);
            for (int i = 0; i < moves; i++) {
                cursor.move(space.key(random), random);
            }
        }
    }

    private void closeCursor(RandomGenerator random) {
        if (!cursors.isEmpty()) {
            CursorCheck cursor = cursors.remove(random.nextInt(cursors.size()));
            cursor.close();
            expectClosed("cursor", cursor::next);
            cursor.close();
        }
    }

    private void scan(KeyRange range, RandomGenerator random) {
        try (Cursor cursor = store.cursor(range)) {
            new CursorCheck(cursor, model.now(), range, order()).walk(random);
        }
    }

    private KeyOrder order() {
        return store.options().keyOrder();
    }

    /** A range that the store takes: one without order refuses to {@code use} any but the whole. */
    private KeyRange range(RandomGenerator random, Consumer<KeyRange> use) {
        KeyRange range = anyRange(random);
        if (order() == KeyOrder.HASHED && !range.equals(KeyRange.all())) {
            expectUnordered("the range " + range, () -> use.accept(range));
            return KeyRange.all();
        }
        return range;
    }

    private KeyRange anyRange(RandomGenerator random) {
        return switch (random.nextInt(6)) {
            case 0 -> KeyRange.all();
            case 1 -> KeyRange.from(space.key(random));
            case 2 -> KeyRange.before(space.key(random));
            case 3 -> KeyRange.prefix(space.prefix(random));
            default -> KeyRange.between(space.key(random), space.key(random));
        };
    }

    private void reopen(RandomGenerator random) {
        boolean leaks = random.nextBoolean();
        ENGINE_LOGGER.setLevel(leaks ? Level.SEVERE : Level.INFO);
        if (!leaks) {
            closeViews();
        }
        KeyValueStore old = store;
        old.close();
        model.checkpointed();
        expectClosed("store", () -> old.get(new byte[] {1}));
        if (leaks) {
            views.forEach(view -> expectClosed("snapshot", () -> view.snapshot.get(new byte[] {1})));
            cursors.forEach(cursor -> expectClosed("cursor", cursor::next));
            closeViews();
        }
        old.close();
        host.verify();
        store = host.open(random);
    }

    private void crash(RandomGenerator random) {
        if (!host.canCrash()) {
            return;
        }
        CrashKind kind = random.nextBoolean() ? CrashKind.KILL : CrashKind.POWER_LOSS;
        host.crash(kind, random);
        closeViews();
        store.close();
        store = host.open(random);
        NavigableMap<byte[], byte[]> found = contents();
        String complaint = model.explain(kind, found);
        check(complaint == null, () -> complaint);
        model.adopt(kind, found);
    }

    private NavigableMap<byte[], byte[]> contents() {
        NavigableMap<byte[], byte[]> found = Model.newMap();
        try (Cursor cursor = store.cursor()) {
            while (cursor.next()) {
                found.put(cursor.key(), cursor.value());
            }
        }
        return found;
    }

    /**
     * Between two checkpoints: before the first, operands might lose what they are applied to; before the second, a crash might bring
     * back what was let go.
     */
    private void discard(RandomGenerator random) {
        KeyRange range = anyRange(random);
        if (order() == KeyOrder.HASHED && !range.equals(KeyRange.all())) {
            expectUnordered("discard", () -> store.discard(range));
            return;
        }
        store.checkpoint();
        model.checkpointed();
        store.discard(range);
        NavigableMap<byte[], byte[]> found = contents();
        NavigableMap<byte[], byte[]> expected = Model.newMap();
        model.now().forEach((key, value) -> {
            byte[] left = found.get(key);
            if (!range.contains(key)) {
                expected.put(key, value);
            } else if (left != null) {
                expected.put(key, model.mayBeLeft(key, left) ? left : value);
            }
        });
        String complaint = Model.difference(expected, found);
        check(complaint == null, () -> "after discard of " + range + ": " + complaint);
        store.checkpoint();
        model.discarded(found);
    }

    /** A key that was read lately, as often as not, and a few times: what is read again may come from somewhere else. */
    private void get(RandomGenerator random) {
        int slot = random.nextInt(lately.length);
        if (lately[slot] == null || random.nextBoolean()) {
            lately[slot] = space.key(random);
        }
        byte[] key = lately[slot];
        for (int left = 1 + random.nextInt(3); left > 0; left--) {
            Reads.compare(store, key, model.now(), random);
        }
    }

    private void settle() {
        store.settle();
        if (views.isEmpty() && cursors.isEmpty()) {
            store.checkpoint();
            model.checkpointed();
            host.requireNoLeak();
        }
    }

    private void tune(StoreTuning tuning) {
        store.tune(tuning);
        check(store.tuning().equals(tuning), () -> "tuned to " + tuning + ", but in force is " + store.tuning());
    }

    /** Of the whole store, or of the nodes of a range and of some heights. */
    private void changePolicy(RandomGenerator random) {
        StorePolicies policies = StorePolicies.of(store);
        if (policies == null) {
            return;
        }
        CompactionPolicyKind policy = POLICIES[random.nextInt(POLICIES.length)];
        Heights heights = new Heights(random.nextInt(2), random.nextInt(3));
        switch (random.nextInt(4)) {
            case 0 -> policies.clear(anyRange(random), heights);
            case 1 -> tune(store.tuning().withPolicy(policy));
            default -> policies.set(anyRange(random), heights, NODE_POLICIES[random.nextInt(NODE_POLICIES.length)]);
        }
    }

    private void closeViews() {
        views.forEach(view -> view.snapshot.close());
        views.clear();
        cursors.forEach(CursorCheck::close);
        cursors.clear();
    }

    /** Compares the whole contents, both ways. */
    void finish() {
        scan(KeyRange.all(), new SplittableRandom(0));
        closeViews();
        settle();
        reopen(new SplittableRandom(1));
        scan(KeyRange.all(), new SplittableRandom(1));
    }

    @Override
    public void close() {
        closeViews();
        store.close();
        host.verify();
    }

    static void check(boolean holds, java.util.function.Supplier<String> complaint) {
        if (!holds) {
            throw new AssertionError(complaint.get());
        }
    }

    private static void expectClosed(String what, Runnable use) {
        try {
            use.run();
        } catch (ClosedException expected) {
            return;
        }
        throw new AssertionError("a closed " + what + " was used and did not throw ClosedException");
    }

    static void expectUnordered(String what, Runnable use) {
        try {
            use.run();
        } catch (UnorderedStoreException expected) {
            return;
        }
        throw new AssertionError(what + " was not refused by a store without order");
    }

    static void expectValue(byte[] key, byte[] expected, byte[] found, String call) {
        check(
                Arrays.equals(expected, found),
                () -> call + " of key " + Write.text(key) + " should give " + Write.text(expected) + ", gave "
                        + Write.text(found));
    }

    /** The bytes as a segment: on the heap, within a larger array, or native and not aligned. */
    static MemorySegment segment(byte[] bytes, RandomGenerator random, Arena arena) {
        int shift = random.nextInt(9);
        MemorySegment whole =
                switch (random.nextInt(3)) {
                    case 0 -> MemorySegment.ofArray(new byte[bytes.length + shift]);
                    case 1 -> MemorySegment.ofBuffer(java.nio.ByteBuffer.allocate(bytes.length + shift));
                    default -> arena.allocate(bytes.length + shift + 1L);
                };
        MemorySegment slice = whole.asSlice(shift, bytes.length);
        slice.copyFrom(MemorySegment.ofArray(bytes));
        return slice;
    }
}
