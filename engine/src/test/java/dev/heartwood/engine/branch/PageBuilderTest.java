package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A page takes the entries that fit, and no fewer, as a sum over all of them says. */
class PageBuilderTest {
    private final MemoryPool pool = MemoryPool.open(1 << 20);
    private final long memory = pool.allocate(PageBuilder.MEMORY_BYTES);
    private final long page = pool.allocate(PageLayout.PAGE_BYTES);
    private final long scratch = pool.allocate(PageLayout.PAGE_BYTES);
    private final PageBuilder builder = PageBuilder.ofLeaves();

    private record Entry(byte[] key, long sequence, int valueBytes) {}

    @AfterEach
    void close() {
        pool.close();
    }

    /** How sequences go on as keys rise. */
    private enum Sequences {
        FALLING {
            @Override
            long next(SplittableRandom random, long last) {
                return Math.max(1, last - 1 - random.nextInt(3));
            }
        },
        FALLING_FAR {
            @Override
            long next(SplittableRandom random, long last) {
                return Math.max(1, last - random.nextLong(1L << random.nextInt(40)));
            }
        },
        WITH_A_FEW_GREAT_ONES {
            @Override
            long next(SplittableRandom random, long last) {
                return random.nextInt(50) == 0 ? random.nextLong(1L << 60) : random.nextLong(1, 300);
            }
        },
        ANY {
            @Override
            long next(SplittableRandom random, long last) {
                return random.nextInt(4) == 0 ? 0 : random.nextLong(1L << random.nextInt(1, 62));
            }
        };

        abstract long next(SplittableRandom random, long last);
    }

    @Test
    void aPageTakesWhatFits() {
        builder.use(memory);
        long seed = Long.getLong("heartwood.seed", 11);
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 400; round++) {
            Sequences sequences = Sequences.values()[round % 4];
            fill(random, sequences, "-Dtest=PageBuilderTest -Dheartwood.seed=" + seed + " round " + round);
        }
    }

    private void fill(SplittableRandom random, Sequences sequences, String rerun) {
        List<Entry> taken = new ArrayList<>();
        int valueBytesMax = 1 << random.nextInt(8);
        long sequence = 1L << 41;
        for (int number = random.nextInt(1000); ; number += 1 + random.nextInt(20)) {
            sequence = sequences.next(random, sequence);
            byte[] key = BranchFixture.bytes("key%06d".formatted(number));
            Entry entry = new Entry(key, sequence, random.nextInt(valueBytesMax));
            List<Entry> with = new ArrayList<>(taken);
            with.add(entry);
            boolean fits = bytes(with) <= PageLayout.PAGE_BYTES;
            Memory.copyFrom(key, 0, scratch, key.length);
            boolean isTaken =
                    builder.add(scratch, key.length, sequence, Entries.PUT, scratch, entry.valueBytes, scratch, 0);
            assertEquals(fits, isTaken, rerun);
            if (!isTaken) {
                break;
            }
            taken = with;
        }
        assertTrue(taken.size() > 10, rerun);
        builder.build(page, 0, 0);
        assertEquals(bytes(taken), Memory.getUnsignedShort(page + KeyedPageLayout.END), rerun);
        long base = Memory.getLong(page + KeyedPageLayout.SEQUENCE_BASE);
        for (int i = 0; i < taken.size(); i++) {
            int bounds = KeyedPage.bounds(page, taken.size(), i);
            assertEquals(taken.get(i).sequence, KeyedPage.sequence(page, bounds, base), rerun);
        }
    }

    /** Where a page with these entries ends, simply summed up. */
    private static int bytes(List<Entry> entries) {
        byte[] first = entries.getFirst().key;
        int prefix = first.length;
        long base = Long.MAX_VALUE;
        for (Entry entry : entries) {
            int differs = Arrays.mismatch(first, entry.key);
            prefix = differs < 0 ? prefix : Math.min(prefix, differs);
            base = entry.sequence == 0 ? base : Math.min(base, entry.sequence);
        }
        int sum = KeyedPage.prefixOffset(entries.size()) + prefix;
        for (Entry entry : entries) {
            int remainder = entry.key.length - prefix;
            sum += 2 + Math.max(0, remainder - KeyedPageLayout.HEAD_BYTES) + entry.valueBytes;
            for (long delta = entry.sequence == 0 ? 0 : entry.sequence - base; delta != 0; delta >>>= 8) {
                sum++;
            }
        }
        return sum;
    }
}
