package dev.heartwood.testkit;

import dev.heartwood.ClosedException;
import dev.heartwood.WriteBatch;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/** Writes collected on the heap. */
final class TreeBatch implements WriteBatch {
    private final List<Write> writes = new ArrayList<>();
    private boolean closed;

    List<Write> writes() {
        requireOpen();
        return List.copyOf(writes);
    }

    private void requireOpen() {
        if (closed) {
            throw new ClosedException("the batch");
        }
    }

    private void add(Write.Kind kind, byte[] key, byte[] value) {
        requireOpen();
        writes.add(new Write(kind, key, value));
    }

    @Override
    public void put(byte[] key, byte[] value) {
        add(Write.Kind.PUT, key.clone(), value.clone());
    }

    @Override
    public void put(MemorySegment key, MemorySegment value) {
        add(Write.Kind.PUT, TreeStore.array(key), TreeStore.array(value));
    }

    @Override
    public void delete(byte[] key) {
        add(Write.Kind.DELETE, key.clone(), null);
    }

    @Override
    public void delete(MemorySegment key) {
        add(Write.Kind.DELETE, TreeStore.array(key), null);
    }

    @Override
    public void merge(byte[] key, byte[] operand) {
        add(Write.Kind.MERGE, key.clone(), operand.clone());
    }

    @Override
    public void merge(MemorySegment key, MemorySegment operand) {
        add(Write.Kind.MERGE, TreeStore.array(key), TreeStore.array(operand));
    }

    @Override
    public int count() {
        return writes.size();
    }

    @Override
    public long bytes() {
        return writes.stream()
                .mapToLong(w -> w.key().length + (w.value() == null ? 0 : w.value().length))
                .sum();
    }

    @Override
    public void clear() {
        requireOpen();
        writes.clear();
    }

    @Override
    public void close() {
        closed = true;
    }
}
