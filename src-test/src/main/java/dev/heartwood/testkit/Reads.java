package dev.heartwood.testkit;

import static dev.heartwood.testkit.DifferentialRun.check;
import static dev.heartwood.testkit.DifferentialRun.expectValue;
import static dev.heartwood.testkit.DifferentialRun.segment;

import dev.heartwood.KeyValueStore;
import dev.heartwood.Snapshot;
import dev.heartwood.ValueConsumer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.NavigableMap;
import java.util.Random;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.random.RandomGenerator;

/** Reads a key through any of the calls that can, and compares with what is expected. */
final class Reads {
    /** More than a call has reads under way for. */
    private static final int KEYS_AT_ONCE_MAX = 60;

    private Reads() {}

    static void compare(KeyValueStore store, byte[] key, NavigableMap<byte[], byte[]> map, RandomGenerator random) {
        byte[] expected = map.get(key);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keySegment = segment(key, random, arena);
            switch (random.nextInt(8)) {
                case 0 -> expectValue(key, expected, store.get(key), "get(byte[])");
                case 1 -> expectValue(key, expected, store.get(keySegment), "get(segment)");
                case 2 -> {
                    MemorySegment to = destination(expected, random, arena);
                    checkCopy(key, expected, store.get(keySegment, to), to);
                }
                case 3 -> checkConsumer(key, expected, consumer -> store.get(keySegment, consumer));
                case 4 -> checkConsumer(key, expected, consumer -> store.get(key, consumer));
                case 5 -> checkContains(key, expected, store.contains(key));
                case 6 -> checkAll(around(key, map, random), map, store::getAll);
                default -> checkContains(key, expected, store.contains(keySegment));
            }
        }
    }

    static void compare(Snapshot snapshot, byte[] key, NavigableMap<byte[], byte[]> map, RandomGenerator random) {
        byte[] expected = map.get(key);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment keySegment = segment(key, random, arena);
            switch (random.nextInt(7)) {
                case 0 -> expectValue(key, expected, snapshot.get(key), "snapshot.get(byte[])");
                case 1 -> expectValue(key, expected, snapshot.get(keySegment), "snapshot.get(segment)");
                case 2 -> checkConsumer(key, expected, consumer -> snapshot.get(keySegment, consumer));
                case 3 -> checkConsumer(key, expected, consumer -> snapshot.get(key, consumer));
                case 4 -> checkContains(key, expected, snapshot.contains(random.nextBoolean() ? keySegment : MemorySegment.ofArray(key)));
                case 5 -> checkAll(around(key, map, random), map, snapshot::getAll);
                default -> {
                    MemorySegment to = destination(expected, random, arena);
                    checkCopy(key, expected, snapshot.get(keySegment, to), to);
                }
            }
        }
    }

    /** A key, those that follow it, and some that are no key or come once more, in no order. */
    private static List<byte[]> around(byte[] key, NavigableMap<byte[], byte[]> map, RandomGenerator random) {
        List<byte[]> keys = new ArrayList<>(List.of(key));
        int count = random.nextInt(KEYS_AT_ONCE_MAX);
        for (byte[] next : map.tailMap(key, false).keySet()) {
            if (keys.size() > count) {
                break;
            }
            keys.add(random.nextInt(8) == 0 ? Arrays.copyOf(next, next.length / 2) : next);
            if (random.nextInt(8) == 0) {
                keys.add(key);
            }
        }
        Collections.shuffle(keys, new Random(random.nextLong()));
        return keys;
    }

    private static void checkAll(
            List<byte[]> keys, NavigableMap<byte[], byte[]> map, UnaryOperator<List<byte[]>> call) {
        List<byte[]> found = call.apply(keys);
        check(found.size() == keys.size(), () -> "getAll of " + keys.size() + " keys returned " + found.size() + " values");
        for (int i = 0; i < keys.size(); i++) {
            expectValue(keys.get(i), map.get(keys.get(i)), found.get(i), "getAll");
        }
    }

    /** Room for the value, exactly, with some to spare, or too little. */
    private static MemorySegment destination(byte[] expected, RandomGenerator random, Arena arena) {
        int length = expected == null ? 8 : expected.length;
        int room =
                switch (random.nextInt(3)) {
                    case 0 -> length;
                    case 1 -> length + random.nextInt(20);
                    default -> random.nextInt(length + 1);
                };
        byte[] untouched = new byte[room];
        Arrays.fill(untouched, (byte) 0x5a);
        return segment(untouched, random, arena);
    }

    private static void checkCopy(byte[] key, byte[] expected, long returned, MemorySegment to) {
        long length = expected == null ? -1 : expected.length;
        check(
                returned == length,
                () -> "get(segment, destination) of " + Write.text(key) + " should return " + length + ", returned "
                        + returned);
        byte[] found = TreeStore.array(to);
        byte[] wanted = new byte[found.length];
        Arrays.fill(wanted, (byte) 0x5a);
        if (expected != null) {
            System.arraycopy(expected, 0, wanted, 0, Math.min(expected.length, wanted.length));
        }
        expectValue(key, wanted, found, "get(segment, destination)");
    }

    private static void checkContains(byte[] key, byte[] expected, boolean found) {
        check(found == (expected != null), () -> "contains(" + Write.text(key) + ") should be " + (expected != null));
    }

    private static void checkConsumer(byte[] key, byte[] expected, Function<ValueConsumer, Boolean> call) {
        byte[][] found = new byte[1][];
        MemorySegment[] kept = new MemorySegment[1];
        boolean present = call.apply(value -> {
            check(found[0] == null, () -> "a consumer was called twice");
            check(value.isReadOnly(), () -> "a consumer was given a segment that it can write");
            found[0] = TreeStore.array(value);
            kept[0] = value;
        });
        expectValue(key, expected, found[0], "get(key, consumer)");
        check(present == (expected != null), () -> "get(key, consumer) returned " + present);
        check(
                expected == null || expected.length == 0 || !kept[0].scope().isAlive(),
                () -> "the segment given to a consumer lives on");
    }
}
