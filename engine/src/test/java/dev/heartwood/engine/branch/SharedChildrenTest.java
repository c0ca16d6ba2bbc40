package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.extent.Purpose;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import org.junit.jupiter.api.Test;

/**
 * Well sealed index pages may all name the same pages below as their children: then there are as many ways to a leaf as such pages to the power
 * of the levels, and verification went each of them.
 */
class SharedChildrenTest {
    /** Pages on each level but the root's, all of them children of each page above. */
    private static final int WIDTH = 30;

    private static final int LEVELS = 4;
    private static final int PAGES = LEVELS * WIDTH + 1;

    @Test
    void verificationVisitsNoMorePagesThanThereAre() {
        try (BranchFixture fixture = new BranchFixture()) {
            Branch branch = write(fixture);
            BranchVerifier.Report report = BranchVerifier.verify(branch);
            assertTrue(report.pages() <= PAGES, report.pages() + " pages");
            String last = report.problems().getLast();
            assertTrue(last.contains("more ways"), last);
            // Counts of what was passed over are not compared.
            assertEquals(
                    0, report.problems().stream().filter(each -> each.contains("tombstones")).count());
            branch.release();
        }
    }

    private static Branch write(BranchFixture fixture) {
        int[] extents = new int[(PAGES + PageLayout.EXTENT_PAGES - 1) / PageLayout.EXTENT_PAGES];
        for (int i = 0; i < extents.length; i++) {
            extents[i] = fixture.extents.allocate(Purpose.PACKING);
        }
        byte[] key = {1};
        Branch branch = new Branch(
                fixture.storage,
                fixture.newId(),
                extents,
                new BranchShape(WIDTH, WIDTH, PAGES, LEVELS),
                new BranchStats(WIDTH, 1, WIDTH, 1),
                key,
                key,
                new OverflowGroup[0],
                new long[0]);
        for (int number = 0; number < PAGES; number++) {
            write(fixture, branch, number);
        }
        return branch;
    }

    private static void write(BranchFixture fixture, Branch branch, int number) {
        int level = number / WIDTH;
        long memory = fixture.pool.allocate(PageBuilder.MEMORY_BYTES);
        long page = fixture.pool.allocate(PageLayout.PAGE_BYTES);
        Memory.fill(page, PageLayout.PAGE_BYTES, 0);
        PageBuilder builder = level == 0 ? PageBuilder.ofLeaves() : PageBuilder.ofIndexPages();
        builder.use(memory);
        long key = fixture.key(new byte[] {1});
        int meta = level == 0 ? Entries.PUT : KeyedPageLayout.SEPARATOR;
        for (int i = level == 0 ? WIDTH - 1 : 1; i < WIDTH; i++) {
            builder.add(key, 1, 0, meta, 0, 0, 0, 0);
        }
        builder.build(page, level, (level - 1L) * WIDTH);
        PageType type = level == 0 ? PageType.BRANCH_LEAF : PageType.BRANCH_INDEX;
        PageSeal.seal(page, type, BranchFixture.STORE_ID, branch.devicePage(number), branch.id());
        fixture.device.write(branch.devicePage(number) * PageLayout.PAGE_BYTES, page, PageLayout.PAGE_BYTES);
        fixture.pool.free(page, PageLayout.PAGE_BYTES);
        fixture.pool.free(memory, PageBuilder.MEMORY_BYTES);
    }
}
