package dev.heartwood.kafka;

import dev.heartwood.KeyValueStore;
import java.util.Arrays;

/**
 * Moves the data of a table to time segments of another length, when its store has got another retention: Kafka Streams' cache above the store
 * merges what both have in the order of the segments that the store's supplier names, so the store must have the same.
 *
 * <p>Belongs between a rollback and the first write: all data is of the last commit then, or of before, wherever it lies. A move that is cut
 * short goes on when the table is opened again, to whichever segments are wanted by then: an entry says by its time where it belongs, and what
 * lies there already stays; a large entry may lie in both places, and is the same in both. Meanwhile the table's shape says that its data lies in
 * segments of more than one length.
 */
final class SegmentMove {
    private final KeyValueStore store;
    private final SegmentKeys keys;
    private final TableShape to;

    SegmentMove(KeyValueStore store, TableShape to) {
        this.store = store;
        this.keys = SegmentKeys.of(to.kind());
        this.to = to;
    }

    /** Moves what does not lie where it belongs. */
    void run() {
        store.put(TableKeys.SHAPE, to.mixed().encoded());
        RangeRewrite.ofEntries(store, TableKeys.ALL_DATA, this::move).run();
        store.put(TableKeys.SHAPE, to.encoded());
    }

    private void move(byte[] key, byte[] value, RangeRewrite.Writes writes) {
        byte[] wanted = keys.tableKey(SegmentKeys.storeKey(key), to.segmentMillis());
        if (!Arrays.equals(key, wanted)) {
            writes.put(wanted, value);
            writes.put(key, null);
        }
    }
}
