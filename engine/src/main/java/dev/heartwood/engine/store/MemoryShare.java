package dev.heartwood.engine.store;

import dev.heartwood.ClosedException;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.call.StoreCalls;
import dev.heartwood.engine.write.MemtableRotation;
import dev.heartwood.engine.write.WritePath;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A store as its environment, and through that the other stores, see it: what it has of the memory that all share, and who is asked to give
 * some of it back. Owns nothing; waits for nobody. Thread-safe, also while the store closes, and after.
 */
final class MemoryShare {
    private final StoreCalls calls;
    private final OpenViews views;
    private final StoreParts parts;
    private final MemtableRotation rotation;
    private final WritePath write;

    MemoryShare(StoreCalls calls, OpenViews views, StoreParts parts) {
        this.calls = calls;
        this.views = views;
        this.parts = parts;
        this.rotation = parts.rotation();
        this.write = parts.write();
    }

    long logBytes() {
        return parts.log().bytesInMemory();
    }

    /** Bytes of keys and values given to the store since it was opened. */
    long bytesWritten() {
        return write.userBytes();
    }

    /** The memtable that takes writes; {@link #seal} has its bytes of the shared pool given back. */
    Generation active() {
        return parts.generations().active();
    }

    /** What of the shared pool {@link #seal} would have given back. */
    long sealableBytes() {
        return rotation.canSeal() ? active().memtable().bytesHeld() : 0;
    }

    /** What of it memtables have that take writes or will be packed; nothing where none can be, or the store takes no more writes. */
    long owedBytes() {
        boolean isOwed = !calls.isClosed() && !parts.failStop().isFailed() && !parts.background().packing().isRefused();
        return isOwed ? parts.generations().bytesHeld() : 0;
    }

    /** Whether memory of this store's memtables is about to be given back, or would be if it were asked to seal. */
    boolean isComing() {
        // In this order: a memtable leaves while it is packed. Nobody reads one for ever, but what failed may keep it.
        return calls.isClosed()
                || parts.background().packing().isMemoryComing()
                || parts.generations().isAnyLeaving() && !parts.failStop().isFailed()
                || rotation.canSeal() && !parts.background().packing().isRefused();
    }

    /** Which stores take no more writes since something failed, and keep memtables that nobody packs, for a message; empty when none does. */
    static String toldOfStopped(List<MemoryShare> shares) {
        String stopped = shares.stream()
                .filter(share -> share.parts.failStop().isFailed() && !share.calls.isClosed())
                .map(share -> share.parts.files().directory().toString())
                .collect(Collectors.joining(", "));
        return stopped.isEmpty() ? "" : "; close what has failed and keeps its memtables until then: " + stopped;
    }

    /** Has views that are open give back memory of memtables that the tree has by now. */
    void recall() {
        if (!parts.generations().isAnyLeaving()) {
            return;
        }
        Epochs epochs = parts.epochs();
        int slot = epochs.enterBriefly();
        try {
            if (!calls.isClosed()) {
                views.catchUp(epochs);
            }
        } finally {
            epochs.exit(slot);
        }
    }

    /**
     * Has memory given back that is in a memtable without entries, since a write was refused more for it, or waits for that; returns whether
     * there was any.
     */
    boolean giveBackEmpty() {
        try {
            return !calls.isClosed() && rotation.giveBackIfEmpty();
        } catch (ClosedException closing) {
            return false;
        } catch (RuntimeException | Error e) {
            parts.failStop().fail(e);
            return false;
        }
    }

    /** Seals a memtable for the sake of other stores, unless it is active no more, or that would have to wait. */
    void seal(Generation active) {
        if (calls.isClosed()) {
            return;
        }
        try {
            rotation.sealIfPossible(active);
        } catch (RuntimeException | Error e) {
            parts.failStop().fail(e);
        }
    }
}
