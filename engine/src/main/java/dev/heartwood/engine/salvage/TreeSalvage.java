package dev.heartwood.engine.salvage;

import dev.heartwood.StoreException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchSalvage;
import dev.heartwood.engine.salvage.DamagedTree.Visible;
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
         */
        void take(byte[] key, byte[] value, List<byte[]> operands);
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
    private long suspects;

    TreeSalvage(DamagedTree tree, Sink sink, Consumer<String> lost, Progress progress) {
        this.tree = tree;
        this.sink = sink;
        this.lost = lost;
        this.progress = progress;
    }

    void run() {
        for (Branch branch : tree.branches()) {
            entriesTotal += branch.entries();
            BranchSalvage source = new BranchSalvage(
                    branch, (gap, why) -> lost.accept(gap + ": entries of branch " + branch.id() + ": " + why));
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
            resolve(key);
            for (BranchSalvage source : atKey.values()) {
                skip(source, key);
            }
            progress.at("entries read", entriesDone, entriesTotal);
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

    /** What of a key can be read; {@code operands} oldest first. */
    private record State(byte[] value, List<byte[]> operands, boolean isSuspect) {}

    /** Reads first: what the sink throws is no damage. */
    private void resolve(byte[] key) {
        State state;
        try {
            state = read(key);
        } catch (StoreException e) {
            lost.accept("key " + Keys.text(key) + ": its value: " + e.getMessage());
            return;
        }
        if (state.value != null || !state.operands.isEmpty()) {
            sink.take(key, state.value, state.operands);
            records++;
            suspects += state.isSuspect ? 1 : 0;
        }
    }

    private State read(byte[] key) {
        List<byte[]> newestFirst = new ArrayList<>();
        boolean isSuspect = false;
        for (Visible visible : tree.visible(key)) {
            BranchSalvage source = atKey.get(visible.branchId());
            if (!visible.span().contains(key)) {
                continue;
            }
            if (source == null) {
                BranchSalvage elsewhere = sources.get(visible.branchId());
                isSuspect |= elsewhere != null && elsewhere.isInGap(key);
                continue;
            }
            isSuspect |= source.isInGap(key);
            while (source.key() != null && Keys.compare(source.key(), key) == 0) {
                if (source.kind() != Entries.MERGE) {
                    return new State(
                            source.kind() == Entries.PUT ? source.value() : null, newestFirst.reversed(), isSuspect);
                }
                newestFirst.add(source.value());
                entriesDone++;
                source.next();
                isSuspect |= source.isInGap(key);
            }
        }
        return new State(null, newestFirst.reversed(), isSuspect);
    }

    long records() {
        return records;
    }

    long suspects() {
        return suspects;
    }

    @Override
    public void close() {
        sources.values().forEach(BranchSalvage::close);
    }
}
