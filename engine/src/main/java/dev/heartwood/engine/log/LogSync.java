package dev.heartwood.engine.log;

import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.device.Storage;

/** Makes what was appended durable: what the leader of a group commit does, and what has to be durable before segments are let go of. */
final class LogSync {
    /*
     * A sync takes the LSN counter, waits for the appends under way (an append announces itself before it draws its LSN, so
     * whoever has drawn one of the LSNs below is seen), and syncs what every lane had completed then. So an LSN is called
     * durable only when every lower one is durable too.
     *
     * The order: entries of files, segments, claims that they are durable. A claim must not be durable before what it claims.
     *
     * One thread syncs at a time, who leads the group commit; beside it, who releases may sync the first segment of the life.
     */
    private final Storage storage;
    private final LogStructure structure;
    private final LaneAppends appends;
    private final SegmentPool pool;
    private final LaneClaims claims;
    private final LossStatement statement;
    private final GroupCommit commit;

    LogSync(
            Storage storage,
            LogStructure structure,
            LaneAppends appends,
            SegmentPool pool,
            LaneClaims claims,
            LossStatement statement,
            GroupCommit commit) {
        this.storage = storage;
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
        pool.syncDirectory();
        for (LogSegment segment : segments) {
            segment.sync(storage);
            claims.durable(segment.lane, segment.generation, segment.index);
        }
        claims.sync();
        structure.dropSynced();
        return target;
    }

    /** Makes durable what nothing may be let go of before; returns false while that cannot be done yet. */
    boolean prepareRelease() {
        if (!statement.holdsRelease()) {
            return true;
        }
        if (statement.isOwed()) {
            return false;
        }
        try {
            pool.syncDirectory();
            statement.sync(storage);
            return true;
        } catch (SyncNotTriedException e) {
            return false;
        } catch (Throwable e) {
            commit.fail(e);
            throw e;
        }
    }

    /** Makes everything durable and says so in the log itself. Nobody appends beside or after this call. */
    void syncAndMark() {
        commit.await(appends.nextLsn() - 1);
        appends.appendMarks();
        commit.await(appends.nextLsn() - 1);
    }
}
