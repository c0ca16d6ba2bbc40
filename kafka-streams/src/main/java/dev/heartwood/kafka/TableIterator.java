package dev.heartwood.kafka;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.StoreException;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.errors.InvalidStateStoreException;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.state.KeyValueIterator;

/**
 * Walks a table as it was at one moment; writes go on meanwhile. The table closes it when the table is closed, also
 * from another thread, so every call takes the iterator's own lock; what is asked for after that throws {@link
 * InvalidStateStoreException}.
 */
abstract class TableIterator<K> implements KeyValueIterator<K, byte[]> {
    private final String storeName;
    private final Supplier<Cursor> opening;
    private Cursor cursor;
    private Consumer<TableIterator<?>> afterClose = iterator -> {};
    private KeyValue<K, byte[]> next;
    private boolean ended;
    /** Why the cursor stands nowhere; null while it does not. */
    private RuntimeException failure;

    private boolean closed;

    /** An iterator that sees the table as it is when it is first asked for an entry. */
    TableIterator(String storeName, Supplier<Cursor> opening) {
        this.storeName = storeName;
        this.opening = opening;
    }

    /** An iterator that sees the table as the cursor does. */
    TableIterator(String storeName, Cursor cursor) {
        this(storeName, () -> cursor);
        this.cursor = cursor;
    }

    final void afterClose(Consumer<TableIterator<?>> afterClose) {
        this.afterClose = afterClose;
    }

    /** Moves the cursor to the next entry to show; false at the end. */
    abstract boolean advance(Cursor cursor);

    /** What the key of the entry that the cursor stands on is shown as. */
    abstract K key(byte[] tableKey);

    /** What is shown after {@link #advance}. */
    KeyValue<K, byte[]> entry(Cursor cursor) {
        return KeyValue.pair(key(cursor.key()), cursor.value());
    }

    @Override
    public final synchronized boolean hasNext() {
        if (closed) {
            return hasNextWhenClosed();
        }
        if (failure != null) {
            throw failure;
        }
        if (next == null && !ended) {
            try {
                if (cursor == null) {
                    cursor = opening.get();
                }
                if (advance(cursor)) {
                    next = entry(cursor);
                } else {
                    ended = true;
                }
            } catch (ClosedException e) {
                throw new InvalidStateStoreException("Store " + storeName + " has closed", e);
            } catch (StoreException e) {
                ProcessorStateException thrown = new ProcessorStateException("Error while reading store " + storeName, e);
                failure = cursor == null ? null : thrown;
                throw thrown;
            }
        }
        return next != null;
    }

    /** What a closed iterator says; the kinds differ in it, as those of Kafka Streams do. */
    boolean hasNextWhenClosed() {
        throw hasClosed();
    }

    private InvalidStateStoreException hasClosed() {
        return new InvalidStateStoreException("Iterator of store " + storeName + " has closed");
    }

    private void requireNext() {
        if (closed) {
            throw hasClosed();
        }
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
    }

    @Override
    public final synchronized KeyValue<K, byte[]> next() {
        requireNext();
        KeyValue<K, byte[]> result = next;
        next = null;
        return result;
    }

    @Override
    public final synchronized K peekNextKey() {
        requireNext();
        return next.key;
    }

    @Override
    public final void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (cursor != null) {
                cursor.close();
            }
        }
        afterClose.accept(this);
    }
}
