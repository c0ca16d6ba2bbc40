package dev.heartwood.engine.read;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.write.DeadRanges;
import org.junit.jupiter.api.Test;

/** What a move tells of, and what it asks for. */
class DeadWalkTest {
    private final DeadRanges ranges = new DeadRanges(true, () -> 100);
    private final DeadRanges.View view = new DeadRanges.View(100, 0);
    private final DeadWalk walk = new DeadWalk(ranges, view);

    private static byte[] key(String text) {
        return text.getBytes();
    }

    /** Comes to so many deleted keys, all of which this one stands for. */
    private void pass(String key, int count) {
        for (int i = 0; i < count; i++) {
            assertNull(walk.passForwards(key(key), key.length()));
        }
    }

    private byte[] endOf(String key) {
        return ranges.endOf(key(key), key.length(), view);
    }

    private byte[] beginOf(String key) {
        return ranges.beginOf(key(key), key.length(), view);
    }

    @Test
    void fewKeysAreNotToldOf() {
        walk.beginAt(key("a"));
        pass("b", 63);
        walk.endForwards(key("c"), 1);
        assertTrue(ranges.isEmpty(), "not worth watching");
        walk.beginAt(key("a"));
        pass("b", 64);
        walk.endForwards(key("c"), 1);
        walk.beginAt(key("a"));
        pass("b", 15);
        walk.endForwards(key("c"), 1);
        assertNull(endOf("b"), "nor looked up");
        walk.beginAt(key("a"));
        pass("b", 16);
        walk.endForwards(key("c"), 1);
        assertArrayEquals(key("c"), endOf("b"));
        assertArrayEquals(key("a"), beginOf("b"));
    }

    @Test
    void boundsAreWhatWasWalkedAndNoMore() {
        for (int round = 0; round < 2; round++) {
            byte[] bound = key("k");
            walk.beginAt(bound);
            bound[0] = 'a';
            pass("l", 100);
            walk.endForwards((byte[]) null);
        }
        assertSame(DeadRanges.NO_END, endOf("k"));
        assertNull(endOf("j"), "the array was changed meanwhile");
        for (int round = 0; round < 2; round++) {
            walk.begin();
            walk.passBackwards(key("bzzz"), 4);
            walk.begin();
            for (int i = 0; i < 100; i++) {
                walk.passBackwards(key("b"), 1);
            }
            walk.endBackwards((byte[]) null);
        }
        assertArrayEquals(new byte[] {'b', 0}, endOf("a"), "whatever key was met before");
        for (int round = 0; round < 2; round++) {
            walk.beginAt(null);
            for (int i = 0; i < 100; i++) {
                walk.passBackwards(key("g"), 1);
            }
            walk.endBackwards(new byte[] {'f', 'z'}, 1);
        }
        assertArrayEquals(new byte[] {'f', 0}, beginOf("g"));
        assertSame(DeadRanges.NO_END, endOf("g"));
    }

    @Test
    void theFirstKeyAndEverySixteenthAreLookedUp() {
        for (int round = 0; round < 2; round++) {
            walk.beginAt(key("a"));
            pass("b", 100);
            walk.endForwards(key("c"), 1);
        }
        walk.beginAt(key("a"));
        assertArrayEquals(key("c"), walk.passForwards(key("b"), 1));
        pass("b", 15);
        assertArrayEquals(key("c"), walk.passForwards(key("b"), 1));
        walk.begin();
        assertArrayEquals(key("a"), walk.passBackwards(key("b"), 1));
    }

    @Test
    void aLongBoundIsNotKept() {
        for (int round = 0; round < 2; round++) {
            walk.beginAt(new byte[2000]);
            pass("b", 100);
            walk.endForwards(key("c"), 1);
        }
        assertEquals(0, ranges.count());
    }
}
