package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.NoSpaceException;
import dev.heartwood.PreviousFailureException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.page.PageLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ThroughWriterTest {
    private static final long GENERATION = 5;

    private final CacheFixture fixture = new CacheFixture(256, 1024);
    private final CachedFile file = fixture.file;
    private final List<Long> buffers = new ArrayList<>();

    @AfterEach
    void close() {
        buffers.forEach(buffer -> fixture.pool.free(buffer, PageLayout.EXTENT_BYTES));
        fixture.close();
    }

    private long extent(int extent) {
        return extent(extent, GENERATION);
    }

    private long extent(int extent, long generation) {
        long buffer = fixture.sealed(first(extent), PageLayout.EXTENT_PAGES, generation);
        buffers.add(buffer);
        return buffer;
    }

    private static long first(int extent) {
        return (long) extent * PageLayout.EXTENT_PAGES;
    }

    @Test
    void extentsAreWrittenWhileTheNextAreFilled() {
        try (ThroughWriter writer = file.newThroughWriter(2, false)) {
            long one = extent(1);
            long two = extent(2);
            writer.write(first(1), 32, one, 0);
            assertFalse(writer.isFull());
            writer.write(first(2), 32, two, 0);
            assertTrue(writer.isFull());
            assertEquals(0, fixture.cache.stats().writtenThrough());
            long free = writer.reap();
            assertTrue(free == one || free == two);
            assertFalse(writer.isFull());
            writer.write(first(3), 7, extent(3), 0);
            writer.await();
            writer.await();
        }
        assertEquals(3, fixture.device.writes.get());
        assertEquals(32 + 32 + 7, fixture.cache.stats().writtenThrough());
        for (long page = first(1); page < first(3) + 7; page++) {
            assertFalse(fixture.isCached(page));
            fixture.read(page, GENERATION);
        }
    }

    @Test
    void copiesAreKeptOfWhatIsOnTheDevice() {
        try (ThroughWriter writer = file.newThroughWriter(1, true)) {
            writer.write(first(1), 32, extent(1), 0);
            assertFalse(fixture.isCached(first(1)));
            writer.await();
            assertTrue(fixture.isCached(first(1)));
            fixture.read(first(1), GENERATION);
        }
        assertEquals(0, fixture.device.reads.get());
    }

    @Test
    void withoutFramesToSpareCopiesTakeThePlacesOfOthersAsFarAsTheyMay() {
        int others = 640;
        fixture.format(first(10), others, GENERATION);
        for (int page = 0; fixture.cache.stats().framesAvailable() > 32; page++) {
            fixture.read(first(10) + page % others, GENERATION);
        }
        try (ThroughWriter writer = file.newThroughWriter(2, true)) {
            writer.write(first(1), 32, extent(1), 0);
            writer.write(first(2), 32, extent(2), 7);
            assertEquals(7, writer.placesTaken(), "as many as it may take");
            writer.await();
            assertEquals(7, writer.placesTaken());
            writer.write(first(4), 2, extent(4), 32);
            assertEquals(7 + 32, writer.placesTaken());
            writer.await();
            assertEquals(7 + 2, writer.placesTaken(), "as many as it took");
        }
        assertEquals(0, cachedOf(1));
        assertEquals(7, cachedOf(2));
        assertEquals(3, file.writeAndKeep(first(3), 32, extent(3), 3));
        assertEquals(3, cachedOf(3));
    }

    private long cachedOf(int extent) {
        return LongStream.range(first(extent), first(extent + 1))
                .filter(fixture::isCached)
                .count();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aFailureIsThrownWhereItIsWaitedForAndRemembered(boolean reaps) {
        try (ThroughWriter writer = file.newThroughWriter(1, true)) {
            fixture.device.failingWrite.set(1);
            writer.write(first(1), 32, extent(1), 0);
            assertNull(file.failure());
            long next = extent(2);
            StoreIoException thrown = assertThrows(StoreIoException.class, () -> {
                if (reaps) {
                    writer.reap();
                } else {
                    writer.await();
                }
            });
            assertSame(thrown, file.failure());
            assertFalse(fixture.isCached(first(1)));
            assertThrows(PreviousFailureException.class, () -> writer.write(first(2), 32, next, 0));
        }
    }

    @Test
    void aFullDeviceIsNoFailureOfTheFile() {
        fixture.device.during = () -> {
            throw new NoSpaceException("full");
        };
        try (ThroughWriter writer = file.newThroughWriter(1, true)) {
            writer.write(first(1), 32, extent(1), 0);
            assertThrows(NoSpaceException.class, writer::await);
        }
        assertNull(file.failure());
    }

    @Test
    void closingWaitsForWhatIsUnderWay() {
        ThroughWriter writer = file.newThroughWriter(1, true);
        writer.write(first(1), 32, extent(1), 0);
        writer.close();
        assertEquals(1, fixture.device.writes.get());
        assertFalse(fixture.isCached(first(1)));
        // The place may be written anew: nothing overlaps, which the device would say.
        file.writeThrough(first(1), 32, extent(1, GENERATION + 1));
        fixture.read(first(1), GENERATION + 1);
        writer.close();
    }
}
