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
        return HeartwoodVersionedStore.shown(entries.next().key);
    }

    @Override
    public void close() {
        entries.close();
    }

    /**
     * The entries of the table behind it. A version may be there whose end has not been written yet ({@link HeartwoodVersionedStore}); it
     * is shown to end where the next one begins.
     */
    static final class Entries extends TableIterator<Version> {
        private final Times times;
        private final Direction direction;
        private Version shown;
        private boolean started;
        /** The version that the cursor stands on; null at the end. */
        private Version current;

        Entries(String storeName, Cursor cursor, Times times, Direction direction) {
            super(storeName, cursor);
            this.times = times;
            this.direction = direction;
        }

        @Override
        boolean advance(Cursor cursor) {
            do {
                shown = direction == Direction.FORWARD ? next(cursor) : previous(cursor);
            } while (shown != null && !times.includes(shown));
            return shown != null;
        }

        /** The cursor is one version ahead of what is shown. */
        private Version next(Cursor cursor) {
            if (!started) {
                started = true;
                current = read(cursor, cursor.next());
            }
            Version version = current;
            if (version == null) {
                return null;
            }
            current = read(cursor, cursor.next());
            return current == null ? version : version.endingBy(current.validFrom());
        }

        private Version previous(Cursor cursor) {
            Version later = current;
            current = read(cursor, started ? cursor.previous() : cursor.last());
            started = true;
            return current == null || later == null ? current : current.endingBy(later.validFrom());
        }

        private static Version read(Cursor cursor, boolean isThere) {
            return isThere ? VersionKeys.version(cursor.key(), cursor.value()) : null;
        }

        @Override
        KeyValue<Version, byte[]> entry(Cursor cursor) {
            return KeyValue.pair(shown, shown.value());
        }

        @Override
        Version key(byte[] tableKey) {
            return shown;
        }
    }
}
