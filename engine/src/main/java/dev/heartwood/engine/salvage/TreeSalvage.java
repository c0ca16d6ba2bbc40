package dev.heartwood.engine.salvage;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchSalvage;
import dev.heartwood.engine.salvage.DamagedTree.Visible;
import dev.heartwood.engine.salvage.SuspectKeys.State;
import dev.heartwood.engine.verify.Progress;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * Merges the branches of a damaged tree, each read once and past its damage, and hands on every key's newest readable state. Used
 * once, by one thread.
 */
final class TreeSalvage implements AutoCloseable {
    /** Takes the keys. */
    interface Sink {
        /**
         * A key's value, or null when only operands are known, and the operands above it, oldest first. What this throws ends the
         * salvage.
         *
         * @return whether all of it was copied; else the sink has said why not, and {@link #holds} says whether a part was
         */
        boolean take(byte[] key, byte[] value, List<byte[]> operands);

        /** A key whose value, or an operand of it, cannot be read; where {@code goesOn}, what is older of it is taken. */
        void lose(byte[] key, StoreException why, boolean goesOn);

        /** Whether the copy has something of a key. */
        boolean holds(byte[] key);
    }

    private final DamagedTree tree;
    private final Sink sink;
    private final Consumer<String> lost;
    private final Progress progress;
    private final Map<Long, BranchSalvage> sources = new HashMap<>();
    private final Map<Long, BranchSalvage> atKey = new HashMap<>();
    private final PriorityQueue<BranchSalvage> queue =
            new PriorityQueue<>(Comparator.comparing(BranchSalvage::key, Keys::compare));
    private long entriesTotal;
    private long entriesDone;
    private long records;
    private final SuspectKeys suspects;

    /** {@code log} has the keys that {@link #follow} will be told of. */
    TreeSalvage(DamagedTree tree, LogKeys log, Sink sink, Consumer<String> lost, Progress progress) {
        this.tree = tree;
        this.suspects = new SuspectKeys(log);
        this.sink = sink;
        this.lost = lost;
        this.progress = progress;
    }

    void run() {
        for (Branch branch : tree.branches()) {
            entriesTotal += branch.entries();
            BranchSalvage source = new BranchSalvage(
                    branch, (gap, why) -> lose(gap, branch, why));
            sources.put(branch.id(), source);
            advance(source);
        }
        while (!queue.isEmpty()) {
            byte[] key = queue.peek().key();
            atKey.clear();
            while (!queue.isEmpty() && Keys.compare(queue.peek().key(), key) == 0) {
                BranchSalvage source = queue.poll();
                atKey.put(source.branch().id(), source);
            }
            State state = resolve(key);
            for (BranchSalvage source : atKey.values()) {
                skip(source, key);
            }
            if (state != State.SOUND || mayLack(key)) {
                suspects.set(key, state);
            }
            progress.at("entries read", entriesDone, entriesTotal);
        }
    }

    private void lose(BranchSalvage.Gap gap, Branch branch, String why) {
        if (tree.counts(gap)) {
            lost.accept(gap + ": entries of branch " + branch.id() + ": " + why);
        }
    }

    private void advance(BranchSalvage source) {
        entriesDone++;
        if (source.next()) {
            queue.add(source);
        }
    }

    /** Past all versions of a key. */
    private void skip(BranchSalvage source, byte[] key) {
        while (source.key() != null && Keys.compare(source.key(), key) == 0) {
            entriesDone++;
            source.next();
        }
        if (source.key() != null) {
            queue.add(source);
        }
    }

    /** What of a key can be read; {@code operands} oldest first. {@code unread} says why nothing younger is, or is null. */
    private record Found(byte[] value, List<byte[]> operands, boolean isSuspect, StoreException unread) {
        boolean isNothing() {
            return value == null && operands.isEmpty();
        }
    }

    /** Reads first: what the sink throws is no damage, and neither is want of memory to move on, which ends the salvage. */
    private State resolve(byte[] key) {
        Found found = read(key);
        if (found.unread != null) {
            sink.lose(key, found.unread, !found.isNothing());
        }
        if (found.isNothing()) {
            return found.isSuspect ? State.LOST : State.SOUND;
        }
        boolean isWhole = sink.take(key, found.value, found.operands);
        if (!isWhole && !sink.holds(key)) {
            return State.LOST;
        }
        records++;
        return isWhole && !found.isSuspect ? State.SOUND : State.SUSPECT;
    }

    /** Of what cannot be read, and all above it, nothing counts, so that a key has what it once had. */
    private Found read(byte[] key) {
        List<byte[]> newestFirst = new ArrayList<>();
        List<byte[]> ownNewestFirst = List.of();
        StoreException unread = null;
        boolean isSuspect = false;
        boolean hasOwnOperands = false;
        boolean isOwn = true;
        for (Visible visible : tree.visible(key)) {
            if (!visible.span().contains(key)) {
                continue;
            }
            if (isOwn && visible.isOlder() && unread != null) {
                // Who knows where between these they belong: what the older tree has counts alone, if it has anything.
                ownNewestFirst = List.copyOf(newestFirst);
                newestFirst.clear();
                hasOwnOperands = false;
            }
            isOwn = !visible.isOlder();
            hasOwnOperands |= isOwn && !newestFirst.isEmpty();
            if (visible.isLost()) {
                isSuspect = true;
                continue;
            }
            BranchSalvage source = atKey.get(visible.branchId());
            if (source == null) {
                BranchSalvage elsewhere = sources.get(visible.branchId());
                isSuspect |= elsewhere != null && elsewhere.isInGap(key);
                continue;
            }
            isSuspect |= source.isInGap(key);
            while (source.key() != null && Keys.compare(source.key(), key) == 0) {
                byte kind = source.kind();
                if (kind == Entries.DELETE) {
                    return new Found(null, newestFirst.reversed(), isSuspect, unread);
                }
                try {
                    if (kind == Entries.PUT) {
                        return new Found(source.value(), newestFirst.reversed(), isSuspect, unread);
                    }
                    // Those of the older tree may be the same, before they moved on.
                    if (!visible.isOlder() || !hasOwnOperands) {
                        newestFirst.add(source.value());
                    }
                } catch (InsufficientMemoryException e) {
                    return new Found(null, List.of(), true, e); // it is there, for who has more
                } catch (StoreException e) {
                    unread = unread == null ? e : unread;
                    isSuspect = true;
                    newestFirst.clear();
                    hasOwnOperands = false;
                }
                entriesDone++;
                source.next();
                isSuspect |= source.isInGap(key);
            }
        }
        List<byte[]> counts = newestFirst.isEmpty() ? ownNewestFirst : newestFirst;
        return new Found(null, counts.reversed(), isSuspect, unread);
    }

    long records() {
        return records;
    }

    /** Whether something of a key, found or not, may be among what could not be read up to here. */
    private boolean mayLack(byte[] key) {
        for (Visible visible : tree.visible(key)) {
            if (visible.span().contains(key)
                    && (visible.isLost() || sources.get(visible.branchId()).isInAnyGap(key))) {
                return true;
            }
        }
        return false;
    }

    /** Whether the copy is known to have the newest state of a key of the log that the tree had, as long as nothing of the log was added. */
    boolean isSure(byte[] key) {
        State state = suspects.state(key);
        return state == State.SOUND || state == null && !mayLack(key);
    }

    /**
     * Takes note of what a write of the log, which follows what the tree has, made of a key of the copy. Where that was lost, the copy may
     * hold what was below it.
     */
    void follow(byte[] key, byte kind, State state) {
        if (state == State.SOUND && suspects.state(key) == null && !mayLack(key)) {
            return;
        }
        if (state == State.SOUND && kind == Entries.MERGE) {
            suspects.addOperand(key);
        } else {
            suspects.set(key, state == State.LOST && sink.holds(key) ? State.SUSPECT : state);
        }
    }

    /** Of the keys copied, those that may lack something that was lost. */
    long suspects() {
        return suspects.count();
    }

    @Override
    public void close() {
        sources.values().forEach(BranchSalvage::close);
    }
}
