package dev.heartwood.testkit;

import dev.heartwood.ClosedException;
import dev.heartwood.Cursor;
import dev.heartwood.testkit.TreeStore.Bug;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.NavigableMap;
import java.util.function.BooleanSupplier;

/** A cursor over a sorted map that nobody changes. */
final class TreeCursor implements Cursor {
    /*
     * The position is an entry, or one of two ends; `end` says which of them when there is no entry.
     */
    private enum End {
        BEFORE_FIRST,
        AFTER_LAST
    }

    private final NavigableMap<byte[], byte[]> map;
    private final Bug bug;
    private final BooleanSupplier storeClosed;
    private final Runnable onClose;
    private Map.Entry<byte[], byte[]> entry;
    private End end = End.BEFORE_FIRST;
    private boolean forwards = true;
    private boolean closed;

    TreeCursor(NavigableMap<byte[], byte[]> map, Bug bug, BooleanSupplier storeClosed, Runnable onClose) {
        this.map = map;
        this.bug = bug;
        this.storeClosed = storeClosed;
        this.onClose = onClose;
    }

    private boolean moveTo(Map.Entry<byte[], byte[]> target, End otherwise) {
        if (closed || storeClosed.getAsBoolean()) {
            throw new ClosedException("the cursor");
        }
        entry = target;
        end = otherwise;
        return valid();
    }

    @Override
    public boolean next() {
        Map.Entry<byte[], byte[]> target = entry != null
                ? map.higherEntry(entry.getKey())
                : end == End.BEFORE_FIRST ? map.firstEntry() : null;
        boolean turned = !forwards;
        forwards = true;
        if (bug == Bug.CURSOR_SKIPS_WHEN_IT_TURNS && turned && entry != null && target != null) {
            target = map.higherEntry(target.getKey());
        }
        return moveTo(target, End.AFTER_LAST);
    }

    @Override
    public boolean previous() {
        forwards = false;
        Map.Entry<byte[], byte[]> target = entry != null
                ? map.lowerEntry(entry.getKey())
                : end == End.AFTER_LAST ? map.lastEntry() : null;
        return moveTo(target, End.BEFORE_FIRST);
    }

    @Override
    public boolean first() {
        return moveTo(map.firstEntry(), End.AFTER_LAST);
    }

    @Override
    public boolean last() {
        return moveTo(map.lastEntry(), End.BEFORE_FIRST);
    }

    @Override
    public boolean seek(byte[] key) {
        boolean passes = bug == Bug.SEEK_PASSES_AN_EQUAL_KEY;
        return moveTo(passes ? map.higherEntry(key) : map.ceilingEntry(key), End.AFTER_LAST);
    }

    @Override
    public boolean seek(MemorySegment key) {
        return seek(TreeStore.array(key));
    }

    @Override
    public boolean seekBackwards(byte[] key) {
        return moveTo(map.floorEntry(key), End.BEFORE_FIRST);
    }

    @Override
    public boolean seekBackwards(MemorySegment key) {
        return seekBackwards(TreeStore.array(key));
    }

    @Override
    public void enterGroup(byte[] group) {
        throw new UnsupportedOperationException("the model has no groups");
    }

    @Override
    public boolean valid() {
        return entry != null;
    }

    private Map.Entry<byte[], byte[]> entry() {
        if (closed || storeClosed.getAsBoolean()) {
            throw new ClosedException("the cursor");
        }
        if (entry == null) {
            throw new IllegalStateException("the cursor does not stand on an entry");
        }
        return entry;
    }

    @Override
    public byte[] key() {
        return entry().getKey().clone();
    }

    @Override
    public byte[] value() {
        return entry().getValue().clone();
    }

    @Override
    public MemorySegment keySegment() {
        return MemorySegment.ofArray(entry().getKey()).asReadOnly();
    }

    @Override
    public MemorySegment valueSegment() {
        return MemorySegment.ofArray(entry().getValue()).asReadOnly();
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            onClose.run();
        }
    }
}
