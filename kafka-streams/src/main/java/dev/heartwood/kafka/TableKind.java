package dev.heartwood.kafka;

import java.nio.ByteBuffer;

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

    /** Where keys of the data have a number that grows with time: that of a segment, or the time from which a version is valid. */
    int timeOffset(int keyBytes) {
        return this == VERSIONED ? keyBytes - Long.BYTES : 1;
    }

    /** That number. */
    long time(byte[] tableKey) {
        return ByteBuffer.wrap(tableKey).getLong(timeOffset(tableKey.length));
    }
}
