package dev.heartwood.engine.branch;

/**
 * How the pages of a branch are numbered: leaves from 0, index pages from {@code firstIndexPage}, level after level, the root
 * last.
 *
 * @param leafPages the leaves, at least 1
 * @param firstIndexPage where level 1 begins; at least {@code leafPages}
 * @param pageCount one more than the number of the root
 * @param levels index levels above the leaves
 */
public record BranchShape(int leafPages, int firstIndexPage, int pageCount, int levels) {}
