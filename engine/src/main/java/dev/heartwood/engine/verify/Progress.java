package dev.heartwood.engine.verify;

/** Is told from time to time how far a long walk is; what it throws ends the walk. */
public interface Progress {
    /** Says nothing. */
    Progress SILENT = (what, done, total) -> {};

    /** {@code done} of {@code total} have been dealt with. */
    void at(String what, long done, long total);
}
