package dev.heartwood.engine.cache;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/** What tests of one cached file begin with: a file whose pages are all of one generation, and a cache for a small part of it. */
abstract class FormattedFileTest {
    static final int FRAMES = 128;
    static final int PAGES = 4096;
    static final long GENERATION = 3;

    CacheFixture fixture;
    CachedFile file;
    MemoryDevice device;

    @BeforeEach
    void open() {
        fixture = new CacheFixture(FRAMES, PAGES);
        file = fixture.file;
        device = fixture.device;
        fixture.format(0, PAGES, GENERATION);
    }

    /** Reads the first pages often enough for them to be kept. */
    void heat(int pages) {
        for (int round = 0; round < 2; round++) {
            for (int page = 0; page < pages; page++) {
                fixture.read(page, GENERATION);
            }
        }
    }

    /** How many of the first pages are cached. */
    int cachedOf(int pages) {
        int cached = 0;
        for (int page = 0; page < pages; page++) {
            cached += fixture.isCached(page) ? 1 : 0;
        }
        return cached;
    }

    @AfterEach
    void close() {
        fixture.close();
    }
}
