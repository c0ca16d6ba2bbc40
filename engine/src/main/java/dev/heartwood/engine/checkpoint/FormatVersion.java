package dev.heartwood.engine.checkpoint;

/** The versions of the stored format. A store of a newer version than {@link #CURRENT} is refused. */
public enum FormatVersion {
    /**
     * The first. Data file with two superblocks in extent 0; pages of 4096 bytes with the header of {@code page.PageLayout}, extents
     * of 32 pages; trunk images of version 1; log segments of version 1.
     */
    V1(1),

    /**
     * Trunk images of version 2, which say under which policy a node is. A store of version 1 becomes one of version 2 when it is opened;
     * its nodes without a policy go with the store's.
     */
    V2(2),

    /**
     * The last value of a leaf may go on in the next leaf. A store of an older version becomes one of version 3 when it is opened; its leaves
     * are as they were.
     */
    V3(3),

    /**
     * A superblock names the pages of the root's image as ranges, so that it has room for those of the largest root. A store of an older version
     * becomes one of version 4 when it is opened.
     */
    V4(4),

    /**
     * Log segments of version 2, whose records are shorter by eight to twelve bytes. A store of an older version becomes one of version 5 when it
     * is opened; the segments that it has are read as they are until a checkpoint holds them.
     */
    V5(5),

    /**
     * Log segments of version 3, whose records are shorter by four to eight bytes. A store of an older version becomes one of version 6 when it is
     * opened; the segments that it has are read as they are until a checkpoint holds them.
     */
    V6(6);

    /** The version that is written. */
    public static final FormatVersion CURRENT = V6;

    private final int number;

    FormatVersion(int number) {
        this.number = number;
    }

    /** The stored number. */
    public int number() {
        return number;
    }
}
