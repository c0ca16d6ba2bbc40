package dev.heartwood.engine.cache;

import dev.heartwood.engine.page.PageType;

/**
 * Pages that follow each other in a file, all of one type and generation.
 *
 * @param isCold whether those that are read go before others when there is no room
 */
record PageRun(long firstPage, int count, PageType type, long generation, boolean isCold) {
    /** Some of its pages. */
    PageRun part(long first, int pages) {
        return new PageRun(first, pages, type, generation, isCold);
    }
}
