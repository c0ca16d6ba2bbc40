package dev.heartwood.testkit;

import static dev.heartwood.testkit.DifferentialRun.check;
import static dev.heartwood.testkit.DifferentialRun.expectValue;

import dev.heartwood.Cursor;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.testkit.TreeStore.Bug;
import java.lang.foreign.Arena;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.random.RandomGenerator;

/** Moves a store's cursor and one over the model alike, and compares where they stand. */
final class CursorCheck implements AutoCloseable {
    private final Cursor cursor;
    private final TreeCursor expected;
    private final KeyOrder order;

    CursorCheck(Cursor cursor, NavigableMap<byte[], byte[]> contents, KeyRange range, KeyOrder order) {
        this.order = order;
        TreeMap<byte[], byte[]> within = KeyComparator.newMap(order);
        contents.forEach((key, value) -> {
            if (range.contains(key)) {
                within.put(key, value);
            }
        });
        this.cursor = cursor;
        expected = new TreeCursor(within, Bug.NONE, () -> false, () -> {});
    }

    boolean next() {
        return cursor.next();
    }

    /** One random move; {@code key} is where to seek. */
    void move(byte[] key, RandomGenerator random) {
        int move = random.nextInt(11);
        if (order == KeyOrder.HASHED && move >= 2 && move <= 5) {
            refuseToSeek(key, move < 4);
            return;
        }
        switch (move) {
            case 0 -> compare("first", cursor.first(), expected.first());
            case 1 -> compare("last", cursor.last(), expected.last());
            case 2 -> compare("seek", cursor.seek(key), expected.seek(key));
            case 3 -> {
                try (Arena arena = Arena.ofConfined()) {
                    compare("seek", cursor.seek(DifferentialRun.segment(key, random, arena)), expected.seek(key));
                }
            }
            case 4 -> compare("seekBackwards", cursor.seekBackwards(key), expected.seekBackwards(key));
            case 5 -> {
                try (Arena arena = Arena.ofConfined()) {
                    boolean found = cursor.seekBackwards(DifferentialRun.segment(key, random, arena));
                    compare("seekBackwards", found, expected.seekBackwards(key));
                }
            }
            case 6, 7, 8 -> compare("next", cursor.next(), expected.next());
            default -> compare("previous", cursor.previous(), expected.previous());
        }
    }

    /** A cursor of a store without order refuses and stays where it is. */
    private void refuseToSeek(byte[] key, boolean forwards) {
        boolean stood = cursor.valid();
        DifferentialRun.expectUnordered("a seek", () -> {
            if (forwards) {
                cursor.seek(key);
            } else {
                cursor.seekBackwards(key);
            }
        });
        check(cursor.valid() == stood, () -> "after a refused seek valid() is " + cursor.valid());
    }

    /** From one end to the other, either way, turning round now and then. */
    void walk(RandomGenerator random) {
        boolean forwards = random.nextBoolean();
        boolean on = forwards ? compare("next", cursor.next(), expected.next()) : compare("last", cursor.last(), expected.last());
        while (on) {
            if (random.nextInt(40) == 0) {
                step(!forwards);
            }
            on = step(forwards);
        }
    }

    private boolean step(boolean forwards) {
        return forwards
                ? compare("next", cursor.next(), expected.next())
                : compare("previous", cursor.previous(), expected.previous());
    }

    private boolean compare(String move, boolean found, boolean wanted) {
        check(found == wanted, () -> "cursor." + move + " returned " + found + (wanted
                ? ", should stand on " + Write.text(expected.key())
                : ", should stand on nothing but stands on " + Write.text(cursor.key())));
        check(cursor.valid() == wanted, () -> "after cursor." + move + " valid() is " + cursor.valid());
        if (wanted) {
            byte[] key = expected.key();
            expectValue(key, key, cursor.key(), "cursor." + move + " then key()");
            expectValue(key, key, TreeStore.array(cursor.keySegment()), "keySegment()");
            expectValue(key, expected.value(), cursor.value(), "cursor." + move + " then value()");
            expectValue(key, expected.value(), TreeStore.array(cursor.valueSegment()), "valueSegment()");
            check(cursor.valueSegment().isReadOnly(), () -> "valueSegment() can be written");
        } else {
            expectNoEntry();
        }
        return wanted;
    }

    private void expectNoEntry() {
        try {
            cursor.key();
        } catch (IllegalStateException proper) {
            return;
        }
        throw new AssertionError("a cursor that stands on nothing gave a key");
    }

    @Override
    public void close() {
        cursor.close();
    }
}
