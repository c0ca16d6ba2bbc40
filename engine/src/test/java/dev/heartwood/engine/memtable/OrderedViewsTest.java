package dev.heartwood.engine.memtable;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** What the heads of views lie behind, as records come in. Rerun one seed with {@code -Dmemtable.seed=N}. */
class OrderedViewsTest {
    private static final byte[] STEM = "a common beginning".getBytes();
    private static final byte[] FIRST_SEGMENT = KeyShapes.join(KeyShapes.number(1_000_000), STEM);
    private static final byte[] SECOND_SEGMENT = KeyShapes.join(KeyShapes.number(1_000_001), STEM);
    private static final int SEGMENT = FIRST_SEGMENT.length;
    private static final int RECORDS = 4_000;

    private final long seed = Long.getLong("memtable.seed", new SplittableRandom().nextLong() >>> 16);
    private final SplittableRandom random = new SplittableRandom(seed);
    private final KeyShapes shapes = new KeyShapes(random);
    private long sequence;

    /** Records of another prefix, as those of commits among the keys of time segments, leave the heads of the others telling. */
    @Test
    void fewOtherKeysLeaveTheHeadsTelling() {
        try (LaneFixture lane = new LaneFixture()) {
            OrderedViews views = new OrderedViews(new Lane[] {lane.lane}, new SortArrays());
            for (int i = 0; i < RECORDS; i++) {
                append(lane, i % 100 == 0 ? new byte[] {0, 'C'} : key(FIRST_SEGMENT));
                check(views.current());
            }
            OrderedViews.View view = views.single();
            assertArrayEquals(new int[] {SEGMENT}, view.runs()[0].keyHeads().prefixLengths());
            assertEquals(RECORDS / 100, view.runs()[0].outliers());
        } catch (Throwable e) {
            throw new AssertionError("rerun with -Dtest=OrderedViewsTest -Dmemtable.seed=" + seed, e);
        }
    }

    /** When many records have another prefix than before, heads lie behind that, too. */
    @Test
    void headsFollowTheRecords() {
        try (LaneFixture lane = new LaneFixture()) {
            OrderedViews views = new OrderedViews(new Lane[] {lane.lane}, new SortArrays());
            appendMany(lane, views, FIRST_SEGMENT, RECORDS);
            assertArrayEquals(new int[] {SEGMENT}, views.current().runs()[0].keyHeads().prefixLengths());
            appendMany(lane, views, SECOND_SEGMENT, RECORDS / 2);
            assertArrayEquals(new int[] {SEGMENT, SEGMENT}, views.current().runs()[0].keyHeads().prefixLengths());
            appendMany(lane, views, SECOND_SEGMENT, 99 * RECORDS);
            SortedRun single = views.single().runs()[0];
            assertArrayEquals(new int[] {SEGMENT}, single.keyHeads().prefixLengths());
            assertEquals(RECORDS, single.outliers());
        } catch (Throwable e) {
            throw new AssertionError("rerun with -Dtest=OrderedViewsTest -Dmemtable.seed=" + seed, e);
        }
    }

    /** Without a cursor all records come in at once, as when a memtable is packed. */
    @Test
    void theFirstViewOfManyRecordsHasTheirPrefix() {
        try (LaneFixture lane = new LaneFixture()) {
            append(lane, new byte[] {0, 'C'});
            for (int i = 0; i < RECORDS; i++) {
                append(lane, key(FIRST_SEGMENT));
            }
            SortedRun run = new OrderedViews(new Lane[] {lane.lane}, new SortArrays()).single().runs()[0];
            assertArrayEquals(new int[] {SEGMENT}, run.keyHeads().prefixLengths());
            assertEquals(1, run.outliers());
        }
    }

    private void appendMany(LaneFixture lane, OrderedViews views, byte[] segment, int count) {
        for (int i = 0; i < count; i++) {
            append(lane, key(segment));
            if (i % 64 == 0) {
                check(views.current());
            }
        }
    }

    private void append(LaneFixture lane, byte[] key) {
        lane.append(key, ++sequence);
        lane.lane.publish();
    }

    private byte[] key(byte[] segment) {
        return KeyShapes.join(segment, shapes.bytes(10, 256));
    }

    private static void check(OrderedViews.View view) {
        for (SortedRun run : view.runs()) {
            assertSame(view.runs()[0].keyHeads(), run.keyHeads());
            assertTrue(run.count() > 0);
        }
    }
}
