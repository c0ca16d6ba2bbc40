package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.LargeValueCursor;
import dev.heartwood.engine.branch.MergeCursor;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkVersion;
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
    private final TrunkEvents events;
    private TrunkVersion version;
    private List<EntryCursor> memtables;
    /** Those on the path to the open leaf. */
    private PathRuns runs;
    /** Those of the leaf that the cursor comes from while {@link #runs} take over, else none. */
    private PathRuns runsLeft;
    private TreePath path;
    /** Chooses among the runs while the cursor walks the keys of one group, which are within the span. */
    private GroupFilter group;
    private Span groupSpan = Span.ALL;
    private Span leafSpan;
    private MergeCursor merged;
    /** Whether the cursor stands on an entry, which is one of the open leaf. */
    private boolean standing;
    /** What the open leaf has cost, for the events. */
    private int reads;
    private int moves;

    /** A cursor that stands nowhere; closes {@code memtables}, oldest first, with itself. */
    public TreeCursor(TreeStorage storage, TrunkEvents events, TrunkVersion version, List<EntryCursor> memtables) {
        this.storage = storage;
        this.events = events;
        this.version = version;
        this.memtables = memtables;
        this.runs = new PathRuns(storage.buffers());
        this.runsLeft = new PathRuns(storage.buffers());
    }

    @Override
    public boolean valid() {
        return standing;
    }

    /**
     * From now on it is enough to find the keys of one group; others may be missing. The cursor stands nowhere then.
     *
     * @param hash {@link TreeStorage#filterHash} of its keys
     * @param span where they lie
     */
    public void enterGroup(long hash, Span span) {
        closeRuns();
        group = new GroupFilter(storage.file(), hash);
        groupSpan = span;
    }

    /*
     * Memtables, and runs of nodes above, reach beyond the leaf; what is outside its keys belongs to another leaf. A walk leaves it on
     * the side that it goes to.
     */
    private boolean isBeforeEnd() {
        return merged.valid()
                && (leafSpan.to() == null || Memory.compare(merged.keyAddress(), merged.keyLength(), leafSpan.to()) < 0);
    }

    private boolean isFromBegin() {
        return merged.valid()
                && (leafSpan.from() == null
                        || Memory.compare(merged.keyAddress(), merged.keyLength(), leafSpan.from()) >= 0);
    }

    @Override
    public void seekFirst() {
        standing = false;
        openLeafAt(Keys.EMPTY);
        merged.seekFirst();
        goOn();
    }

    @Override
    public void seekLast() {
        standing = false;
        openLeaf(null, true);
        merged.seekLast();
        goBack();
    }

    @Override
    public void seek(long keyAddress, int keyLength) {
        standing = false;
        openLeafAt(keyAddress, keyLength);
        if (group != null) {
            // Of the few runs that are left each is as likely as not to be in the cache, and needs one page.
            merged.seekInTurn(keyAddress, keyLength);
        } else {
            merged.seek(keyAddress, keyLength);
            countReads();
        }
        goOn();
    }

    private void countReads() {
        path.countReads(merged.reads());
        reads += merged.reads();
    }

    @Override
    public void seekBefore(long keyAddress, int keyLength) {
        standing = false;
        openLeafAt(keyAddress, keyLength);
        if (group != null) {
            merged.seekBeforeInTurn(keyAddress, keyLength);
        } else {
            merged.seekBefore(keyAddress, keyLength);
            countReads();
        }
        goBack();
    }

    @Override
    public void next() {
        standing = false;
        moves++;
        merged.next();
        goOn();
    }

    @Override
    public void previous() {
        standing = false;
        moves++;
        merged.previous();
        goBack();
    }

    /*
     * Where one leaf of the tree ends and the next begins, most runs go on in the page that they are at. So the runs of the leaf left
     * stay open until those of the next one stand: their pages are locked, and what is read meanwhile takes the place of none of them.
     */
    private void keepRuns() {
        runs.forgetKeys();
        PathRuns none = runsLeft;
        runsLeft = runs;
        runs = none;
    }

    /** From past the end of a leaf to the first entry of the next leaf that has one. */
    private void goOn() {
        standing = isBeforeEnd();
        while (!standing && leafSpan.to() != null && Keys.isBefore(leafSpan.to(), groupSpan.to())) {
            byte[] from = leafSpan.to();
            keepRuns();
            try {
                openLeafAt(from);
                seekIn(from);
            } finally {
                runsLeft.close();
            }
            standing = isBeforeEnd();
        }
    }

    /** From before the start of a leaf to the last entry of the leaf before that has one. */
    private void goBack() {
        standing = isFromBegin();
        while (!standing && leafSpan.from() != null && isAfterGroupBegin(leafSpan.from())) {
            byte[] to = leafSpan.from();
            keepRuns();
            try {
                openLeaf(to, true);
                seekBeforeIn(to);
            } finally {
                runsLeft.close();
            }
            standing = isFromBegin();
        }
    }

    private boolean isAfterGroupBegin(byte[] key) {
        return groupSpan.from() == null || Keys.compare(groupSpan.from(), key) < 0;
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
        long copy = PathRuns.allocate(storage.buffers(), bytes);
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
        path = TreePath.to(version.root(), key, before, group);
        leafSpan = path.leafSpan();
        if (!runs.tryOpen(path)) {
            // Nobody waits for memory while holding some that others wait for.
            runsLeft.close();
            runs.open(path);
        }
        List<EntryCursor> oldestFirst = new ArrayList<>(path.runCount() + memtables.size());
        oldestFirst.addAll(runs.oldestFirst());
        oldestFirst.addAll(memtables);
        merged = MergeCursor.of(oldestFirst);
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
    public void copyValue(byte[] to) {
        merged.copyValue(to);
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

    @Override
    public void readAheadLarge() {
        merged.readAheadLarge();
    }

    private void closeRuns() {
        boolean hasLeaf = merged != null;
        merged = null;
        standing = false;
        try {
            if (hasLeaf) {
                // A counter may find the Java heap full.
                countScan();
            }
        } finally {
            reads = 0;
            moves = 0;
            runs.close();
        }
    }

    /**
     * Notes what the leaf that is left has cost, its runs among that: where a walk goes on to the next leaf, they are kept until that stands. Within
     * a group hardly any were opened, which says nothing of what scans look into.
     */
    private void countScan() {
        if (group == null) {
            path.countLargeReads(runs.largeReads() + runsLeft.largeReads());
            events.scanned(path, reads, moves);
        }
    }

    /** Lets go of what the cursor walks; it stands nowhere, and is told by {@link #walk} what to go on with. */
    public void leave() {
        List<EntryCursor> left = memtables;
        memtables = List.of();
        version = null;
        try {
            closeRuns();
        } finally {
            for (EntryCursor memtable : left) {
                memtable.close();
            }
        }
    }

    /** Walks another version and other memtables from now on, as if made for them; the group that was entered stays. After {@link #leave}. */
    public void walk(TrunkVersion other, List<EntryCursor> otherMemtables) {
        assert version == null : "left nothing";
        version = other;
        memtables = otherMemtables;
    }

    @Override
    public void close() {
        leave();
    }
}
