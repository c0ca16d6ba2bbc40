package dev.heartwood.engine.cache;

import dev.heartwood.engine.page.PageType;

/** Pages that follow each other in a file, all of one type and generation. */
record PageRun(long firstPage, int count, PageType type, long generation) {}
