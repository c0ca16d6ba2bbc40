package dev.heartwood.engine.store;

import dev.heartwood.CorruptionEvent.FoundBy;
import dev.heartwood.CorruptionException;
import dev.heartwood.VerifyReport;
import dev.heartwood.engine.checkpoint.Checkpointer;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.extent.ExtentAllocator;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.verify.Progress;
import dev.heartwood.engine.verify.StoreVerifier;
import dev.heartwood.engine.verify.StoreView;
import java.util.function.Function;

/** The last checkpoint of a store that is open, to be read from the device while everything else goes on. Stateless. */
final class CheckpointView {
    private static final long CACHE_BYTES = 1L << 20;

    private CheckpointView() {}

    /** Shows the checkpoint; its pages stay as they are meanwhile. The listener is told of damaged ones, of superblocks too. */
    static <T> T view(StoreParts parts, MemoryPool pool, Function<StoreView, T> reader) {
        try (Checkpointer.Held held = parts.checkpointer().hold();
                StoreView view = new StoreView(
                        parts.storage().device(), pool, CACHE_BYTES, held.copies(), held.superblock())) {
            view.onDamage(e -> parts.damage().met(FoundBy.VERIFY, e));
            for (Superblocks.Copy copy : held.copies()) {
                if (copy.damage() instanceof CorruptionException e) {
                    view.met(e);
                }
            }
            return reader.apply(view);
        }
    }

    /** Verifies the checkpoint. */
    static VerifyReport verify(StoreParts parts, MemoryPool pool, Progress progress) {
        ExtentAllocator extents = parts.storage().extents();
        return view(parts, pool, view -> StoreVerifier.verifyOpen(view, extents::isAllocated, progress));
    }
}
