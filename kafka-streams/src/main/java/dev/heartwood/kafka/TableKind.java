package dev.heartwood.kafka;

/** What the keys of a table are made of. */
enum TableKind {
    /** The record's key. */
    KEY_VALUE(0),
    /** See {@link SegmentKeys#WINDOW}. */
    WINDOW(Long.BYTES + Integer.BYTES),
    /** See {@link SegmentKeys#SESSION}. */
    SESSION(2 * Long.BYTES),
    /** See {@link VersionKeys}. */
    VERSIONED(0);

    private final int groupSuffixBytes;

    TableKind(int groupSuffixBytes) {
        this.groupSuffixBytes = groupSuffixBytes;
    }

    /** By what is before these last bytes of its keys the store's filters know them; see {@link dev.heartwood.StoreOptions}. */
    int groupSuffixBytes() {
        return groupSuffixBytes;
    }
}
