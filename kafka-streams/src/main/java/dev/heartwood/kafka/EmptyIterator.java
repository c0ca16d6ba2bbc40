package dev.heartwood.kafka;

import java.util.NoSuchElementException;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;

/** An iterator over nothing. */
final class EmptyIterator<K> implements KeyValueIterator<K, byte[]> {
    @Override
    public boolean hasNext() {
        return false;
    }

    @Override
    public KeyValue<K, byte[]> next() {
        throw new NoSuchElementException();
    }

    @Override
    public K peekNextKey() {
        throw new NoSuchElementException();
    }

    @Override
    public void close() {}
}
