package dev.heartwood.engine.log;

/**
 * What the recovery at the start of a life accepted as lost or cut off has to be known to later ones: the header of the life's first
 * segment says so. Thread-safe.
 */
final class LossStatement {
    /*
     * Until the statement is there, nothing is called durable by a sync: it would be behind a gap that nobody has accepted. And until it is
     * durable, no part of earlier lives is let go of, if recovery cut something off: that would come back once the gap before it is no longer
     * there to be seen. All of them may be: of generations that a checkpoint holds nothing comes back.
     *
     * Shared field    read       written                                 guarded by
     * isDue, isCut    plain      plain, before the log is used           -
     * segment         volatile   volatile, once, under structure         -
     * isDurable       volatile   volatile, once                          -
     */
    private boolean isDue;
    private boolean isCut;
    private volatile LogSegment segment;
    private volatile boolean isDurable;

    /** Says what recovery found. */
    void expect(boolean isAnythingLost, boolean isAnythingCutOff) {
        isDue = isAnythingLost || isAnythingCutOff;
        isCut = isAnythingCutOff;
    }

    /** A segment has begun: the first one makes the statement. */
    void begun(LogSegment next) {
        segment = segment == null ? next : segment;
    }

    /** Whether nothing makes the statement yet that has to be made. */
    boolean isOwed() {
        return segment == null && isDue;
    }

    /** Whether nothing may be let go of before the statement is durable. */
    boolean holdsRelease() {
        return isCut && !isDurable;
    }

    /** Makes it durable, see {@link LogSegment#sync}; it is not owed any more. */
    void sync(GroupCommit commit) {
        segment.sync(commit);
        isDurable = true;
    }
}
