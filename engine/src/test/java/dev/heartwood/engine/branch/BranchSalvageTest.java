package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BranchSalvageTest {
    /** More than there are frames in the smallest cache, with what there is for pages that find none. */
    private static final int BRANCHES = 400;

    private final BranchFixture fixture = new BranchFixture(512 << 10);

    @AfterEach
    void close() {
        fixture.close();
    }

    private static byte[] bytes(int... numbers) {
        byte[] bytes = new byte[numbers.length];
        for (int i = 0; i < numbers.length; i++) {
            bytes[i] = (byte) numbers[i];
        }
        return bytes;
    }

    private List<Branch> branches() {
        List<Branch> branches = new ArrayList<>();
        for (int b = 0; b < BRANCHES; b++) {
            List<BranchFixture.Entry> entries = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                entries.add(new BranchFixture.Entry(bytes(i), 1, Entries.PUT, bytes(b, b >> 8, i)));
            }
            branches.add(fixture.write(entries));
        }
        fixture.file.writeBackAll();
        return branches;
    }

    /** Each kept the leaf that it stood on in memory, and when there was none left, sound branches were reported as lost. */
    @Test
    void moreBranchesThanThereAreFramesAreReadBesideEachOther() {
        List<Branch> branches = branches();
        List<BranchSalvage> salvages = new ArrayList<>();
        branches.forEach(branch -> salvages.add(new BranchSalvage(branch, (gap, why) -> {
            throw new AssertionError(gap + " is lost: " + why);
        })));
        fixture.takeMemory();
        for (int i = 0; i < 3; i++) {
            for (int b = 0; b < BRANCHES; b++) {
                BranchSalvage salvage = salvages.get(b);
                assertTrue(salvage.next());
                assertArrayEquals(bytes(i), salvage.key());
                assertArrayEquals(bytes(b, b >> 8, i), salvage.value());
            }
        }
        salvages.forEach(salvage -> assertFalse(salvage.next()));
        branches.forEach(Branch::release);
    }

    private static byte[] key(int number) {
        return BranchFixture.bytes("key%08d".formatted(number));
    }

    /** Keys before the first were suspected, with a first leaf that is damaged, and with a last one those behind the last. */
    @Test
    void aGapEndsWhereTheBranchDoes() {
        Branch branch = fixture.write(BranchFixture.entries(2000, 40), WriteMode.THROUGH);
        assertTrue(branch.leafPages() > 4);
        for (int leaf : new int[] {0, branch.leafPages() - 1}) {
            fixture.device.block(branch.devicePage(leaf))[1000] ^= 1;
        }
        List<BranchSalvage.Gap> gaps = new ArrayList<>();
        try (BranchSalvage salvage = new BranchSalvage(branch, (gap, why) -> gaps.add(gap))) {
            assertTrue(salvage.next());
            byte[] firstRead = salvage.key();
            int read = number(firstRead);
            assertTrue(read > 0 && !salvage.isInGap(bytes(0)) && !salvage.isInGap(BranchFixture.bytes("key0000000")));
            for (int i = 0; i <= read; i++) {
                assertTrue(salvage.isInGap(key(i)), "key " + i);
            }
            byte[] lastRead;
            do {
                lastRead = salvage.key();
            } while (salvage.next());
            assertTrue(number(lastRead) < 1999);
            assertFalse(salvage.isInGap(key(number(lastRead) - 1)));
            for (int i = number(lastRead); i <= 1999; i++) {
                assertTrue(salvage.isInGap(key(i)), "key " + i);
            }
            assertFalse(salvage.isInGap(key(2000)));
            assertEquals(
                    List.of(
                            "keys from \"key00000000\" and before \"" + text(firstRead) + '"',
                            "keys after \"" + text(lastRead) + "\" up to \"key00001999\""),
                    gaps.stream().map(BranchSalvage.Gap::toString).toList());
        }
        branch.release();
    }

    private static String text(byte[] key) {
        return new String(key, java.nio.charset.StandardCharsets.ISO_8859_1);
    }

    private static int number(byte[] key) {
        return Integer.parseInt(text(key).substring(3));
    }
}
