package dev.heartwood.kafka;

import dev.heartwood.Cursor;
import dev.heartwood.kafka.VersionKeys.Version;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.VersionedRecord;
import org.apache.kafka.streams.state.VersionedRecordIterator;

/** Walks versions of one key that were valid within a span of time. */
final class VersionIterator implements VersionedRecordIterator<byte[]> {
    private final Entries entries;

    /**
     * A span of time, both ends inclusive.
     *
     * @param onlyLatest whether versions that another one has followed are left out
     */
    record Times(long from, long to, boolean onlyLatest) {
        boolean includes(Version version) {
            return version.value() != null
                    && version.validFrom() <= to
                    && version.validTo() > from
                    && (!onlyLatest || version.validTo() == VersionKeys.UNDEFINED);
        }
    }

    VersionIterator(Entries entries) {
        this.entries = entries;
    }

    @Override
    public boolean hasNext() {
        return entries.hasNext();
    }

    @Override
    public VersionedRecord<byte[]> next() {
        KeyValue<byte[], byte[]> entry = entries.next();
        return HeartwoodVersionedStore.shown(VersionKeys.version(entry.key, entry.value));
    }

    @Override
    public void close() {
        entries.close();
    }

    /** The entries of the table behind it. */
    static final class Entries extends TableIterator<byte[]> {
        private final Times times;
        private final Direction direction;
        private boolean started;

        Entries(String storeName, Cursor cursor, Times times, Direction direction) {
            super(storeName, cursor);
            this.times = times;
            this.direction = direction;
        }

        @Override
        boolean advance(Cursor cursor) {
            while (step(cursor)) {
                if (times.includes(VersionKeys.version(cursor.key(), cursor.value()))) {
                    return true;
                }
            }
            return false;
        }

        private boolean step(Cursor cursor) {
            if (direction == Direction.FORWARD) {
                return cursor.next();
            }
            boolean isFirst = !started;
            started = true;
            return isFirst ? cursor.last() : cursor.previous();
        }

        @Override
        byte[] key(byte[] tableKey) {
            return tableKey;
        }
    }
}
