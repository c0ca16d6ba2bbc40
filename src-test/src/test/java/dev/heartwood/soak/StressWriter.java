package dev.heartwood.soak;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/** A thread that makes the writes of its history and reads its own keys, also in snapshots, until it is told to stop or its store is closed. */
final class StressWriter {
    private record View(Snapshot snapshot, WriteHistory.State state) {}

    private static final int VIEWS_MAX = 2;
    private static final int SYNC_ONE_IN = 200;

    private final KeyValueStore store;
    private final WriteHistory[] histories;
    private final int thread;
    private final StressProgress progress;
    private final SplittableRandom random;
    private final StressReport report;
    private final WriteHistory history;
    private final boolean logged;
    private final boolean sorted;
    private final int groupSuffixBytes;
    private final List<View> views = new ArrayList<>();

    StressWriter(
            KeyValueStore store,
            StressShape shape,
            int thread,
            StressProgress progress,
            SplittableRandom random,
            StressReport report) {
        this.store = store;
        this.histories = shape.histories();
        this.thread = thread;
        this.progress = progress;
        this.random = random;
        this.report = report;
        history = histories[thread];
        logged = store.options().durability() != Durability.NONE;
        sorted = store.options().keyOrder() == KeyOrder.SORTED;
        groupSuffixBytes = store.options().groupSuffixBytes();
    }

    void run(BooleanSupplier stopped) throws InterruptedException {
        try {
            while (!stopped.getAsBoolean()) {
                report.tolerate(this::step);
            }
        } catch (ClosedException closed) {
            // By whom this thread runs for, who does not always wait for it.
        } finally {
            views.forEach(view -> view.snapshot.close());
        }
    }

    private void step() {
        int kind = random.nextInt(1_000);
        if (kind < 500) {
            write();
        } else if (kind < 900) {
            read(kind % 3);
        } else if (kind < 950) {
            scan();
        } else if (kind < 960) {
            turnViews();
        } else if (kind < 998) {
            lookBack();
        } else if (sorted && random.nextInt(20) == 0) {
            progress.discarding();
            store.discard(KeyRange.prefix(history.prefix()));
        }
    }

    private WriteHistory.State state() {
        return history.after(progress.acknowledged(), progress.discarded());
    }

    private void write() {
        long from = progress.acknowledged();
        long to = history.endOfCall(from);
        Durability level = !logged ? Durability.NONE : random.nextInt(SYNC_ONE_IN) == 0 ? Durability.SYNC : Durability.BUFFERED;
        long started = System.nanoTime();
        history.write(store, from, to, level);
        report.took("write", started);
        progress.acknowledged(to, logged);
    }

    private int anyKey() {
        return random.nextInt(history.keys());
    }

    private void read(int kind) {
        WriteHistory.State state = state();
        if (kind == 0) {
            List<Integer> keys = random.ints(random.nextInt(40), 0, history.keys()).boxed().toList();
            List<byte[]> found = store.getAll(keys.stream().map(history::keyBytes).toList());
            for (int i = 0; i < keys.size(); i++) {
                WriteCheck.expect("getAll", keys.get(i), state, found.get(i));
            }
        } else {
            int key = anyKey();
            if (kind == 1) {
                WriteCheck.expect("get", key, state, store.get(history.keyBytes(key)));
            } else {
                expectContains(key, state, store.contains(history.keyBytes(key)));
            }
        }
    }

    private static void expectContains(int key, WriteHistory.State state, boolean found) {
        if (state.values(key).stream().noneMatch(value -> value != null == found)) {
            throw new AssertionError("contains says " + found + " of key " + key);
        }
    }

    /** Goes through some keys in a row, forwards or backwards, those that are not there included. */
    private void scan() {
        if (!sorted) {
            return;
        }
        WriteHistory.State state = state();
        int from = anyKey();
        int to = Math.min(history.keys(), from + random.nextInt(200));
        KeyRange range = KeyRange.between(history.keyBytes(from), history.keyBytes(to));
        try (Cursor cursor = store.cursor(range)) {
            if (random.nextBoolean()) {
                WriteCheck.expectForwards(cursor, from, to, state);
            } else {
                WriteCheck.expectBackwards(cursor, from, to, state);
            }
        }
        if (groupSuffixBytes > 0) {
            scanGroup(state);
        }
    }

    /** A group has the keys that differ in their last digits alone. */
    private void scanGroup(WriteHistory.State state) {
        int groupKeys = (int) Math.pow(10, groupSuffixBytes);
        int from = anyKey() / groupKeys * groupKeys;
        byte[] first = history.keyBytes(from);
        try (Cursor cursor = store.cursor(KeyRange.prefix(history.prefix()))) {
            cursor.enterGroup(Arrays.copyOf(first, first.length - groupSuffixBytes));
            WriteCheck.expectForwards(cursor, from, Math.min(history.keys(), from + groupKeys), state);
        }
    }

    /** Opens one more snapshot, or closes one. */
    private void turnViews() {
        if (views.size() < VIEWS_MAX) {
            views.add(new View(store.snapshot(), state()));
        } else {
            views.remove(random.nextInt(views.size())).snapshot.close();
        }
    }

    private void lookBack() {
        if (views.isEmpty()) {
            return;
        }
        View view = views.get(random.nextInt(views.size()));
        if (random.nextInt(history.keys()) < 50) {
            new WriteCheck(histories, view.snapshot).requireState(thread, view.state);
        }
        int key = anyKey();
        WriteCheck.expect("snapshot", key, view.state, view.snapshot.get(history.keyBytes(key)));
    }
}
