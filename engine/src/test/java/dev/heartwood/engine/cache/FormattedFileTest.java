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

    @AfterEach
    void close() {
        fixture.close();
    }
}
