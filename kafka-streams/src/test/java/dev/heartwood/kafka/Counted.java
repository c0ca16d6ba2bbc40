package dev.heartwood.kafka;

import org.apache.kafka.streams.state.KeyValueIterator;

/** What an iterator shows, counted. */
final class Counted {
    private Counted() {}

    /** How many entries are left; closes the iterator. */
    static int entries(KeyValueIterator<?, ?> iterator) {
        try (iterator) {
            int entries = 0;
            while (iterator.hasNext()) {
                iterator.next();
                entries++;
            }
            return entries;
        }
    }
}
