package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who has no memory to read a page knows nothing of it: it is not said to be damaged. */
class WantOfMemoryTest {
    private static final int LONG_KEY_BYTES = 3000;

    private final BranchFixture fixture = new BranchFixture(512 << 10);
    private final List<Long> locked = new ArrayList<>();

    @AfterEach
    void close() {
        giveBack();
        fixture.close();
    }

    /** A branch with more leaves than there is memory for. */
    private Branch large() {
        return fixture.write(BranchFixture.entries(20_000, 100), WriteMode.THROUGH);
    }

    /** A branch whose leaf has only the beginnings of its keys. */
    private Branch withLongKeys() {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            byte[] key = Arrays.copyOf(BranchFixture.bytes("key" + i), LONG_KEY_BYTES);
            entries.add(new Entry(key, 1, Entries.PUT, new byte[10]));
        }
        return fixture.write(entries, WriteMode.THROUGH);
    }

    private void lock(Branch branch, int leaf) {
        locked.add(fixture.file.lockShared(branch.devicePage(leaf), PageType.BRANCH_LEAF, branch.id()));
    }

    /** Takes the pool's memory, and locks leaves until the cache has none left either. */
    private void takeMemory(Branch branch) {
        fixture.takeMemory();
        assertThrows(InsufficientMemoryException.class, () -> {
            for (int leaf = branch.leafPages() - 1; leaf >= 0; leaf--) {
                lock(branch, leaf);
            }
        });
    }

    private void giveBack() {
        locked.forEach(fixture.file::unlockShared);
        locked.clear();
    }

    @Test
    void verification() {
        Branch branch = large();
        takeMemory(branch);
        assertThrows(InsufficientMemoryException.class, () -> BranchVerifier.verify(branch));
        giveBack();
        assertEquals(List.of(), BranchVerifier.verify(branch).problems());
        branch.release();
    }

    @Test
    void salvageOfALeaf() {
        Branch branch = large();
        takeMemory(branch);
        try (BranchSalvage salvage = salvageOf(branch)) {
            assertThrows(InsufficientMemoryException.class, salvage::next);
        }
        giveBack();
        branch.release();
    }

    @Test
    void salvageOfALongKey() {
        Branch branch = withLongKeys();
        assertTrue(branch.overflowGroups().length == 1 && branch.leafPages() == 1);
        lock(branch, 0);
        Branch other = large();
        takeMemory(other);
        try (BranchSalvage salvage = salvageOf(branch)) {
            assertThrows(InsufficientMemoryException.class, salvage::next);
        }
        giveBack();
        try (BranchSalvage salvage = salvageOf(branch)) {
            assertTrue(salvage.next());
            assertArrayEquals(Arrays.copyOf(BranchFixture.bytes("key0"), LONG_KEY_BYTES), salvage.key());
        }
        branch.release();
        other.release();
    }

    /** Salvage that had no memory for the next entry went on with the next leaf, and said nothing of the rest of the one before. */
    @Test
    void salvageGoesOnWhereItHadNoMemory() {
        Branch branch = large();
        List<Entry> entries = BranchFixture.entries(20_000, 100);
        try (BranchSalvage salvage = salvageOf(branch)) {
            for (int i = 0; i < entries.size(); i++) {
                if (i == 1 || i == 2000) {
                    takeMemory(branch);
                    assertThrows(InsufficientMemoryException.class, salvage::next);
                    assertThrows(InsufficientMemoryException.class, salvage::next);
                    giveBack();
                }
                assertTrue(salvage.next());
                assertArrayEquals(entries.get(i).key(), salvage.key());
            }
            assertFalse(salvage.next());
        }
        branch.release();
    }

    private static BranchSalvage salvageOf(Branch branch) {
        return new BranchSalvage(branch, (gap, why) -> {
            throw new AssertionError(gap + " is lost: " + why);
        });
    }
}
