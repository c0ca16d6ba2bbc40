package dev.heartwood.engine.log;

import dev.heartwood.NoSpaceException;
import java.util.List;
import java.util.function.IntSupplier;

/** Makes what was appended durable: what the leader of a group commit does, and what has to be durable before segments are let go of. */
final class LogSync {
    /*
     * A sync takes the LSN counter, waits for the appends under way (an append announces itself before it draws its LSN, so
     * whoever has drawn one of the LSNs below is seen), and syncs what every lane had completed then. So an LSN is called
     * durable only when every lower one is durable too.
     *
     * The order: entries of files, segments, claims that they are durable. A claim must not be durable before what it claims.
     *
     * One thread syncs all, who leads the group commit. Beside it, who releases may sync the first segment of the life, and the background the
     * oldest of too many. A sync that fails is final, whoever tried it: what it did not write may be gone, and nobody is told again. So the
     * failure is latched before whoever waits to sync the same segment, or the directory, may, and he looks for it first.
     *
     * Shared field   read       written     guarded by
     * openMax        volatile   volatile    -
     */
    private final LogStructure structure;
    private final LaneAppends appends;
    private final SegmentPool pool;
    private final LaneClaims claims;
    private final LossStatement statement;
    private final GroupCommit commit;
    private volatile IntSupplier openMax = () -> Integer.MAX_VALUE;

    LogSync(
            LogStructure structure,
            LaneAppends appends,
            SegmentPool pool,
            LaneClaims claims,
            LossStatement statement,
            GroupCommit commit) {
        this.structure = structure;
        this.appends = appends;
        this.pool = pool;
        this.claims = claims;
        this.statement = statement;
        this.commit = commit;
    }

    /** See {@link WriteAheadLog#sync}. */
    void sync() {
        commit.throwFailure();
        structure.throwClosed();
        if (statement.isOwed()) {
            throw new NoSpaceException("no space for a log segment after recovery");
        }
        commit.await(appends.nextLsn() - 1);
    }

    /** What the leader of a group commit does; returns the LSN up to which everything is durable then. */
    long syncAll() {
        long target = appends.nextLsn() - 1;
        appends.awaitAppends();
        commit.throwFailure();
        LogSegment[] segments = structure.unsynced();
        pool.syncDirectory(commit);
        long generation = 0;
        for (LogSegment segment : segments) {
            segment.sync(commit);
            claims.durable(segment.lane, segment.generation, segment.index);
            generation = Math.max(generation, segment.generation);
        }
        if (segments.length > 0) {
            claims.synced(generation, target);
        }
        claims.sync();
        for (LogSegment segment : structure.removeSynced()) {
            segment.close();
        }
        return target;
    }

    /**
     * Makes durable what nothing may be let go of before; returns false while that cannot be done yet.
     *
     * @param endsEarlierLives whether all that earlier lives have left is let go of: what was cut off cannot come back then
     */
    boolean prepareRelease(boolean endsEarlierLives) {
        if (!statement.holdsRelease()) {
            return true;
        }
        if (statement.isOwed()) {
            return endsEarlierLives;
        }
        pool.syncDirectory(commit);
        statement.sync(commit);
        return true;
    }

    /** Sets how many finished segments may be open to be synced. */
    void limitOpen(IntSupplier max) {
        openMax = max;
    }

    /** Syncs and closes the oldest finished segments that no sync has covered, if there are more than may be open. In the background. */
    void syncOldest() {
        List<LogSegment> finished = structure.finishedUnsynced();
        int excess = finished.size() - openMax.getAsInt();
        for (int i = 0; i < excess; i++) {
            finished.get(i).syncAndClose(commit);
        }
    }

    /**
     * Makes everything durable and says so in the log itself, unless a loss has still to be stated: then all is left for the next opening, as it
     * was found. Nobody appends beside or after this call.
     */
    void syncAndMark() {
        if (statement.isOwed()) {
            return;
        }
        commit.await(appends.nextLsn() - 1);
        appends.appendMarks();
        commit.await(appends.nextLsn() - 1);
    }
}
