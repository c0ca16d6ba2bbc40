package dev.heartwood.testkit;

import dev.heartwood.Cursor;
import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.WriteBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;

/**
 * The steps of one writer, known beforehand, and how far it has come: so that an image of the disk taken at any instant, by any
 * thread, can be judged.
 */
public final class History {
    /**
     * How far the writer had come when an image was taken.
     *
     * @param acknowledged steps that had returned before the image was begun
     * @param begun steps that had begun before the image was complete
     */
    public record Moment(int acknowledged, int begun) {}

    private record Step(Durability level, List<Write> writes) {}

    /** How large the values are. */
    public enum Sizes {
        /** A few hundred bytes, now and then thousands. */
        USUAL(400, 9000),
        /** So large that a few dozen fill several memtables. */
        LARGE(9000, 30_000);

        private final int usualBytes;
        private final int rareBytes;

        Sizes(int usualBytes, int rareBytes) {
            this.usualBytes = usualBytes;
            this.rareBytes = rareBytes;
        }
    }

    private static final int KEYS = 400;
    private static final TailMergeOperator OPERATOR = new TailMergeOperator();

    private final List<Step> steps = new ArrayList<>();
    private final NavigableMap<byte[], byte[]> state = Model.newMap();
    // Written by the writer, read by whoever takes an image.
    private volatile int begun;
    private volatile int acknowledged;

    /** A history of {@code count} steps, each of one of the levels. */
    public History(long seed, int count, Durability... levels) {
        this(seed, count, Sizes.USUAL, levels);
    }

    /** A history of {@code count} steps with values of some size. */
    public History(long seed, int count, Sizes sizes, Durability... levels) {
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < count; i++) {
            List<Write> writes = new ArrayList<>();
            int size = random.nextInt(4) == 0 ? 1 + random.nextInt(10) : 1;
            for (int w = 0; w < size; w++) {
                writes.add(newWrite(random, sizes));
            }
            steps.add(new Step(levels[random.nextInt(levels.length)], writes));
        }
    }

    private static Write newWrite(SplittableRandom random, Sizes sizes) {
        byte[] key = key(random);
        int lengthMax = random.nextInt(30) == 0 ? sizes.rareBytes : sizes.usualBytes;
        byte[] value = new byte[random.nextInt(lengthMax)];
        random.nextBytes(value);
        int fate = random.nextInt(8);
        return fate == 0
                ? new Write(Write.Kind.DELETE, key, null)
                : fate == 1
                        ? new Write(Write.Kind.MERGE, key, new byte[] {(byte) random.nextInt(200), 1})
                        : new Write(Write.Kind.PUT, key, value);
    }

    /** One of the keys that are written. */
    public static byte[] key(SplittableRandom random) {
        return String.format("key%04d", random.nextInt(KEYS)).getBytes();
    }

    /** What the store contains after the steps that have returned; for the writer, and not to be changed. */
    NavigableMap<byte[], byte[]> state() {
        return state;
    }

    /** How many steps there are. */
    public int size() {
        return steps.size();
    }

    /** Steps that have returned. */
    public int acknowledged() {
        return acknowledged;
    }

    /** Steps that have begun. */
    public int begun() {
        return begun;
    }

    /** Takes the next step. */
    public void advance(KeyValueStore store) {
        Step step = steps.get(begun);
        begun = begun + 1;
        Write first = step.writes.getFirst();
        if (step.writes.size() > 1) {
            writeBatch(store, step);
        } else if (first.kind() == Write.Kind.PUT) {
            store.put(first.key(), first.value(), step.level);
        } else if (first.kind() == Write.Kind.DELETE) {
            store.delete(first.key(), step.level);
        } else {
            store.merge(first.key(), first.value(), step.level);
        }
        applied(step);
        acknowledged = begun;
    }

    /** The step begun last was refused, and will be taken again. */
    void takeBack() {
        begun = begun - 1;
    }

    /** Takes steps for taken and acknowledged until there have been so many, as a store that is opened now had them. */
    void resumeAt(int count) {
        while (begun < count) {
            applied(steps.get(begun));
            begun = begun + 1;
        }
        acknowledged = count;
    }

    private void applied(Step step) {
        step.writes.forEach(write -> write.applyIn(state, OPERATOR));
    }

    private static void writeBatch(KeyValueStore store, Step step) {
        try (WriteBatch batch = store.newBatch()) {
            for (Write write : step.writes) {
                switch (write.kind()) {
                    case PUT -> batch.put(write.key(), write.value());
                    case DELETE -> batch.delete(write.key());
                    case MERGE -> batch.merge(write.key(), write.value());
                }
            }
            store.write(batch, step.level);
        }
    }

    /** Why a store may not contain what it does, when it was crashed at that moment; null when it may. */
    public String explain(CrashKind kind, Moment moment, KeyValueStore store) {
        Model model = new Model(OPERATOR);
        for (int i = 0; i < moment.begun; i++) {
            Step step = steps.get(i);
            int number = model.begin(step.level, step.writes);
            if (i < moment.acknowledged) {
                model.acknowledge(number);
            }
        }
        return model.explain(kind, contents(store));
    }

    /** Everything a store contains, by a scan. */
    public static NavigableMap<byte[], byte[]> contents(KeyValueStore store) {
        NavigableMap<byte[], byte[]> found = Model.newMap();
        try (Cursor cursor = store.cursor()) {
            while (cursor.next()) {
                found.put(cursor.key(), cursor.value());
            }
        }
        return found;
    }
}
