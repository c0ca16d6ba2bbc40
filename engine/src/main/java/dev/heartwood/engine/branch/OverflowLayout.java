package dev.heartwood.engine.branch;

import dev.heartwood.engine.page.PageLayout;

/**
 * An overflow group: the bytes of large values and of the ends of long keys, one after the other, cut over the bodies of pages of
 * type OVERFLOW whose generation is the group's id. What is left of a page may be zero, where the next value begins on the next.
 *
 * <pre>
 *  0        32                                  4096
 *  +--------+-----------------------------------+
 *  | header | bytes [p*4064, (p+1)*4064)        |    page p of the group, on device page extents[p>>>5]*32 + (p&31)
 *  +--------+-----------------------------------+
 * </pre>
 */
final class OverflowLayout {
    static final int BYTES = PageLayout.BODY;
    /** What one page holds. */
    static final int PAGE_PAYLOAD_BYTES = PageLayout.PAGE_BYTES - BYTES;

    static {
        if (PAGE_PAYLOAD_BYTES != 4064) {
            throw new AssertionError("overflow layout");
        }
    }

    private OverflowLayout() {}
}
