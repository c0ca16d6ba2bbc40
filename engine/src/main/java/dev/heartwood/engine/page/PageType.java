package dev.heartwood.engine.page;

/** What a page holds. The code is stored; 0 is reserved so that a zeroed page is none of these. */
public enum PageType {
    SUPERBLOCK(1),
    TRUNK(2),
    BRANCH_LEAF(3),
    BRANCH_INDEX(4),
    OVERFLOW(5),
    FILTER(6),
    LOG(7);

    private static final PageType[] BY_CODE = new PageType[8];

    static {
        for (PageType type : values()) {
            BY_CODE[type.code] = type;
        }
    }

    private final int code;

    PageType(int code) {
        this.code = code;
    }

    /** The stored code. */
    public int code() {
        return code;
    }

    /** The type with a stored code, or null. */
    public static PageType ofCode(int code) {
        return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    }
}
