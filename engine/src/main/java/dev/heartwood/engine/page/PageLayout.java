package dev.heartwood.engine.page;

/**
 * The header that begins every page.
 *
 * <pre>
 *  0        4      5         6          8          16        24            32
 *  +--------+------+---------+----------+----------+---------+-------------+----------
 *  | crc32c | type | version | reserved | store id | address | generation  | body ...
 *  +--------+------+---------+----------+----------+---------+-------------+----------
 * </pre>
 *
 * <p>The checksum covers bytes 4..4096 and guards against rot and torn writes; the store id against a file of another store; the
 * address against misdirected reads and writes; the generation, which the referrer knows too, against lost writes.
 */
public final class PageLayout {
    public static final int PAGE_BYTES = 4096;
    public static final int PAGE_SHIFT = 12;
    public static final int EXTENT_PAGES = 32;
    public static final int EXTENT_SHIFT = 5;
    public static final int EXTENT_BYTES = PAGE_BYTES * EXTENT_PAGES;

    public static final int CHECKSUM = 0;
    public static final int TYPE = CHECKSUM + 4;
    public static final int VERSION = TYPE + 1;
    public static final int RESERVED = VERSION + 1;
    public static final int STORE_ID = RESERVED + 2;
    public static final int ADDRESS = STORE_ID + 8;
    public static final int GENERATION = ADDRESS + 8;
    /** The first byte of a page's own contents. */
    public static final int BODY = GENERATION + 8;

    static {
        if (BODY != 32 || PAGE_BYTES != 1 << PAGE_SHIFT || EXTENT_PAGES != 1 << EXTENT_SHIFT) {
            throw new AssertionError("page layout");
        }
    }

    private PageLayout() {}
}
