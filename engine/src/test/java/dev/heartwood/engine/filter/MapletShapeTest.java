package dev.heartwood.engine.filter;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class MapletShapeTest {
    @Test
    void fingerprintsMapToPlacesInOrderAndBack() {
        long seed = Long.getLong("heartwood.seed", 7);
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 2000; round++) {
            long entries = 1L << random.nextInt(29) | random.nextInt(1 << 20);
            int valueBits = random.nextInt(7);
            int bitsMax = random.nextInt(8, 41);
            MapletPlan plan = new MapletPlan(entries, valueBits, random.nextInt(41), bitsMax);
            MapletShape shape = plan.shape(random.nextInt(1, 5000));
            String rerun = "-Dtest=MapletShapeTest -Dheartwood.seed=" + seed + " " + plan;
            assertNull(
                    MapletShape.problem(shape.fingerprintBits, shape.remainderBits, shape.valueBits, shape.pages),
                    rerun);
            long first = random.nextLong(Math.max(1, shape.fingerprintMask - 200));
            long before = -1;
            for (long f = first; f < first + 200 && f <= shape.fingerprintMask; f++) {
                long place = shape.place(f);
                int page = shape.page(f);
                int block = shape.block(place);
                int quotient = shape.quotient(place);
                long remainder = shape.remainder(place);
                assertTrue(page < shape.pages && block < shape.blocks && quotient < 64, rerun);
                long order = ((long) page * shape.blocks + block << 6 | quotient) << shape.remainderBits | remainder;
                assertTrue(order > before, rerun);
                before = order;
                assertEquals(order, shape.number(f), rerun);
                assertEquals(order >>> shape.remainderBits, shape.firstOf(page, block) | quotient, rerun);
                assertEquals(f, shape.fingerprintOf(order), rerun);
            }
        }
    }

    @Test
    void aNumberWithoutAFingerprintIsToldByTheOneThatItComesTo() {
        SplittableRandom random = new SplittableRandom(17);
        for (int i = 0; i < 2_000; i++) {
            MapletPlan plan = new MapletPlan(random.nextLong(1, 1L << 28), random.nextInt(7), random.nextInt(41), 40);
            MapletShape shape = plan.shape(random.nextInt(1, 5000));
            long numbers = shape.firstOf(shape.pages, 0) << shape.remainderBits;
            for (int j = 0; j < 100; j++) {
                long number = j == 0 ? numbers - 1 : random.nextLong(numbers);
                long exact = BigInteger.valueOf(number)
                        .shiftLeft(shape.remainderShift)
                        .add(BigInteger.valueOf((long) shape.pages * shape.blocks - 1))
                        .divide(BigInteger.valueOf((long) shape.pages * shape.blocks))
                        .longValueExact();
                assertEquals(exact, shape.fingerprintOf(number), plan.toString());
            }
        }
    }

    @Test
    void theFirstAndLastFingerprintAreInTheFirstAndLastPage() {
        MapletShape shape = new MapletPlan(1_000_000, 3, 0, 40).shape(1);
        assertEquals(0, shape.page(0));
        assertEquals(shape.pages - 1, shape.page(shape.fingerprintMask));
    }

    @Test
    void largeMapletsKeepTheSpaceAndTheRateThatIsPromised() {
        for (long entries = 1 << 16; entries <= MapletBuilder.ENTRIES_MAX; entries += entries / 7) {
            for (int valueBits = 0; valueBits <= 6; valueBits++) {
                MapletShape shape = new MapletPlan(entries, valueBits, 0, 40).shape(1);
                double rate = entries / (double) (shape.fingerprintMask + 1);
                assertTrue(rate < 0.008, entries + " entries: " + rate);
                assertTrue(shape.remainderBits >= 7, shape.remainderBits + " bits");
                double bits = shape.pages * 4096.0 * 8 / entries;
                assertTrue(bits < (valueBits <= 4 ? 16 : 14.6 + valueBits - 2), entries + " entries: " + bits);
            }
        }
    }

    @Test
    void aSecondGuessHasMorePages() {
        for (long entries : new long[] {1, 10_000, 1_000_000, MapletBuilder.ENTRIES_MAX}) {
            MapletShape[] guesses = new MapletPlan(entries, 3, 0, 40).guesses();
            assertEquals(2, guesses.length);
            assertTrue(guesses[1].pages > guesses[0].pages + guesses[0].pages / 70, guesses[1].pages + " pages");
        }
    }

    /** Keys that are in several runs fill pages more unevenly; without knowing it, hardly any maplet of them would fit its first shape. */
    @Test
    void guessesHaveRoomForKeysThatSeveralRunsHave() {
        int runs = 4;
        int keys = 400_000;
        SplittableRandom random = new SplittableRandom(7);
        int fitting = 0;
        int fittingSecond = 0;
        int fittingUnknown = 0;
        for (int maplet = 0; maplet < 20; maplet++) {
            int[] copies = random.ints(keys, 0, runs).toArray();
            long entries = 0;
            long met = 0;
            for (int same : copies) {
                entries += same;
                met += (long) same * same;
            }
            MapletPlan even = new MapletPlan(entries, 3, 0, 40);
            MapletPlan crowded = even.crowded((double) met / entries);
            fitting += fits(crowded.guesses()[0], copies, random) ? 1 : 0;
            fittingSecond += fits(crowded.guesses()[1], copies, random) ? 1 : 0;
            fittingUnknown += fits(even.guesses()[0], copies, random) ? 1 : 0;
        }
        String found = fitting + " of 20 fit at first, " + fittingSecond + " at second, " + fittingUnknown + " if it is not known";
        assertTrue(fitting >= 15 && fittingSecond >= 18 && fittingUnknown <= 2, found);
    }

    private static boolean fits(MapletShape shape, int[] copies, SplittableRandom random) {
        int quotients = FilterLayout.quotientBlocks(shape.remainderBits + shape.valueBits) * FilterLayout.BLOCK_SLOTS;
        int[][] pages = new int[shape.pages][quotients];
        for (int same : copies) {
            pages[random.nextInt(shape.pages)][random.nextInt(quotients)] += same;
        }
        return Stream.of(pages).allMatch(page -> slotsNeeded(page) <= shape.slots);
    }

    /** Where the last entry ends when each stands at its place or right behind the one before. */
    private static int slotsNeeded(int[] entries) {
        int next = 0;
        for (int place = 0; place < entries.length; place++) {
            next = entries[place] == 0 ? next : Math.max(next, place) + entries[place];
        }
        return next;
    }

    /** Many pages and long fingerprints together were more than a place is computed with, which an assertion alone kept from going wrong. */
    @Test
    void largeMapletsOfCrowdedEntriesHaveShapes() {
        for (long entries = 1L << 25; entries <= MapletBuilder.ENTRIES_MAX; entries *= 2) {
            for (int valueBits = 0; valueBits <= 6; valueBits++) {
                for (int crowding = 1; crowding <= 64; crowding *= 2) {
                    for (int bitsMin : new int[] {0, 40}) {
                        MapletPlan plan = new MapletPlan(entries, valueBits, bitsMin, 40, crowding);
                        for (MapletShape shape : plan.guesses()) {
                            String problem = MapletShape.problem(
                                    shape.fingerprintBits, shape.remainderBits, shape.valueBits, shape.pages);
                            assertNull(problem, plan.toString());
                            double rate = entries / (double) (shape.fingerprintMask + 1);
                            assertTrue(rate < 0.008, plan + ": " + rate);
                        }
                    }
                }
            }
        }
    }

    @Test
    void smallMapletsTakeOnePage() {
        assertEquals(1, new MapletPlan(1, 6, 0, 40).shape(1).pages);
        assertEquals(1, new MapletPlan(1700, 3, 0, 40).shape(1).pages);
    }

    @Test
    void impossibleShapesAreRefused() {
        assertNotNull(MapletShape.problem(7, 1, 0, 1));
        assertNotNull(MapletShape.problem(41, 12, 0, 1));
        assertNotNull(MapletShape.problem(30, 0, 0, 1));
        assertNotNull(MapletShape.problem(30, 25, 0, 1));
        assertNotNull(MapletShape.problem(30, 9, 7, 1));
        assertNotNull(MapletShape.problem(30, 9, -1, 1));
        assertNotNull(MapletShape.problem(30, 9, 3, 0));
        assertNotNull(MapletShape.problem(30, 9, 3, -1));
        assertNotNull(MapletShape.problem(40, 9, 3, Integer.MAX_VALUE));
        assertNotNull(MapletShape.problem(40, 9, 3, 1), "a page too few to tell fingerprints apart");
    }
}
