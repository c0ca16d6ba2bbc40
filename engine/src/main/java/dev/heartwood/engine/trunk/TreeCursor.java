package dev.heartwood.engine.trunk;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchCursor;
import dev.heartwood.engine.branch.LargeValueCursor;
import dev.heartwood.engine.branch.MergeCursor;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.List;

/**
 * Walks the entries of a tree version and of memtables above it, all versions of all keys, both ways (SplinterDB, section 2.6): it
 * merges every active run on the path to one leaf with the memtables, and goes on to the next leaf when it leaves the leaf's
 * keys. The caller holds the version until the cursor is closed. Belongs to one thread at a time.
 */
public final class TreeCursor implements LargeValueCursor {
    private final TreeStorage storage;
    private final TrunkVersion version;
    private final List<EntryCursor> memtables;
    private final List<EntryCursor> runs = new ArrayList<>();
    private Span leafSpan;
    private LargeValueCursor merged;

    /** A cursor that stands nowhere; closes {@code memtables}, oldest first, with itself. */
    public TreeCursor(TreeStorage storage, TrunkVersion version, List<EntryCursor> memtables) {
        this.storage = storage;
        this.version = version;
        this.memtables = memtables;
    }

    @Override
    public boolean valid() {
        return merged != null && merged.valid() && isInLeaf();
    }

    /** Memtables reach beyond the leaf; what is outside its keys belongs to another leaf. */
    private boolean isInLeaf() {
        return (leafSpan.to() == null || Memory.compare(merged.keyAddress(), merged.keyLength(), leafSpan.to()) < 0)
                && (leafSpan.from() == null
                        || Memory.compare(merged.keyAddress(), merged.keyLength(), leafSpan.from()) >= 0);
    }

    @Override
    public void seekFirst() {
        openLeafAt(Keys.EMPTY);
        merged.seekFirst();
        goOn();
    }

    @Override
    public void seekLast() {
        openLeaf(null, true);
        merged.seekLast();
        goBack();
    }

    @Override
    public void seek(long keyAddress, int keyLength) {
        openLeafAt(keyAddress, keyLength);
        merged.seek(keyAddress, keyLength);
        goOn();
    }

    @Override
    public void seekBefore(long keyAddress, int keyLength) {
        openLeafAt(keyAddress, keyLength);
        merged.seekBefore(keyAddress, keyLength);
        goBack();
    }

    @Override
    public void next() {
        merged.next();
        goOn();
    }

    @Override
    public void previous() {
        merged.previous();
        goBack();
    }

    /** From past the end of a leaf to the first entry of the next leaf that has one. */
    private void goOn() {
        while (!(merged.valid() && isInLeaf()) && leafSpan.to() != null) {
            byte[] from = leafSpan.to();
            openLeafAt(from);
            seekIn(from);
        }
    }

    /** From before the start of a leaf to the last entry of the leaf before that has one. */
    private void goBack() {
        while (!(merged.valid() && isInLeaf()) && leafSpan.from() != null) {
            byte[] to = leafSpan.from();
            openLeaf(to, true);
            seekBeforeIn(to);
        }
    }

    private void seekIn(byte[] key) {
        withNative(key, merged::seek);
    }

    private void seekBeforeIn(byte[] key) {
        withNative(key, merged::seekBefore);
    }

    private interface KeyAction {
        void accept(long keyAddress, int keyLength);
    }

    private void withNative(byte[] key, KeyAction action) {
        long bytes = Math.max(1, key.length);
        long copy = storage.buffers().allocate(bytes);
        if (copy == 0) {
            throw new InsufficientMemoryException("no buffer to seek with");
        }
        try {
            Memory.copyFrom(key, 0, copy, key.length);
            action.accept(copy, key.length);
        } finally {
            storage.buffers().free(copy, bytes);
        }
    }

    private void openLeafAt(byte[] key) {
        openLeaf(key, false);
    }

    private void openLeafAt(long keyAddress, int keyLength) {
        if (merged == null || !isWithin(keyAddress, keyLength)) {
            openLeaf(Memory.bytes(keyAddress, keyLength), false);
        }
    }

    private boolean isWithin(long keyAddress, int keyLength) {
        return (leafSpan.from() == null || Memory.compare(keyAddress, keyLength, leafSpan.from()) >= 0)
                && (leafSpan.to() == null || Memory.compare(keyAddress, keyLength, leafSpan.to()) < 0);
    }

    /**
     * Opens the runs on the path to the leaf of {@code key}, or, with {@code before}, to the leaf of the keys just before it; a null
     * key is past the last.
     */
    private void openLeaf(byte[] key, boolean before) {
        closeRuns();
        List<List<EntryCursor>> byNode = new ArrayList<>();
        try {
            leafSpan = openPath(key, before, byNode);
        } finally {
            for (List<EntryCursor> ofNode : byNode.reversed()) {
                runs.addAll(ofNode);
            }
        }
        List<EntryCursor> oldestFirst = new ArrayList<>(runs);
        oldestFirst.addAll(memtables);
        merged = MergeCursor.of(oldestFirst);
    }

    /** Opens the runs of each node on the path, of the root first; returns the keys of the leaf. */
    private Span openPath(byte[] key, boolean before, List<List<EntryCursor>> byNode) {
        Span span = Span.ALL;
        TrunkNode node = version.root();
        while (true) {
            int pivot = pivotFor(node, key, before);
            Span pivotSpan = node.pivotSpan(pivot, span);
            List<EntryCursor> opened = new ArrayList<>();
            byNode.add(opened);
            openRuns(node, pivot, pivotSpan, opened);
            span = pivotSpan;
            if (node.isLeaf()) {
                node.countScan();
                return span;
            }
            node = node.pivot(pivot).child();
        }
    }

    private static int pivotFor(TrunkNode node, byte[] key, boolean before) {
        int pivot = node.pivotCount() - 1;
        while (pivot > 0 && key != null) {
            int order = Keys.compare(node.pivot(pivot).key(), key);
            if (order < 0 || order == 0 && !before) {
                break;
            }
            pivot--;
        }
        return pivot;
    }

    private static void openRuns(TrunkNode node, int pivot, Span pivotSpan, List<EntryCursor> opened) {
        int position = 0;
        for (int b = 0; b < node.bundleCount(); b++) {
            Bundle bundle = node.bundle(b);
            Span both = pivotSpan.intersect(bundle.span());
            for (Run run : bundle.runs()) {
                if (run != null && position >= node.pivot(pivot).firstActive() && run.sample().touches(both)) {
                    opened.add(BranchCursor.cached(run.branch(), Compactor.toRange(both)));
                }
                position++;
            }
        }
    }

    @Override
    public long keyAddress() {
        return merged.keyAddress();
    }

    @Override
    public int keyLength() {
        return merged.keyLength();
    }

    @Override
    public long sequence() {
        return merged.sequence();
    }

    @Override
    public byte kind() {
        return merged.kind();
    }

    @Override
    public long valueAddress() {
        return merged.valueAddress();
    }

    @Override
    public int valueLength() {
        return merged.valueLength();
    }

    @Override
    public OverflowGroup largeGroup() {
        return merged.largeGroup();
    }

    @Override
    public long largePosition() {
        return merged.largePosition();
    }

    private void closeRuns() {
        merged = null;
        runs.forEach(EntryCursor::close);
        runs.clear();
    }

    @Override
    public void close() {
        closeRuns();
        memtables.forEach(EntryCursor::close);
    }
}
