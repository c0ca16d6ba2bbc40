package dev.heartwood.engine.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.CorruptionException;
import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The cache over files: what one cache wrote, another reads in every way. */
class CachedFileDeviceTest {
    private static final int EXTENTS = 40;
    private static final int PAGES = EXTENTS * PageLayout.EXTENT_PAGES;
    private static final long GENERATION = 9;

    private final Epochs epochs = new Epochs();

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(names = {"AUTO", "POSIX"})
    void whatWasWrittenIsRead(DeviceKind kind) {
        try (FileStorage storage = new FileStorage(directory, kind, IoMode.BUFFERED)) {
            storage.lock();
            try (BlockDevice device = storage.openDevice("data", true);
                    MemoryPool pool = MemoryPool.open(16 << 20)) {
                device.allocate((long) PAGES << PageLayout.PAGE_SHIFT);
                write(device, pool);
                readPages(device, pool);
                readAhead(device, pool);
            }
        }
    }

    private void write(BlockDevice device, MemoryPool pool) {
        try (PageCache cache = new PageCache(pool, 4 << 20, epochs);
                CachedFile file = cache.attach(device, CacheFixture.STORE)) {
            long buffer = pool.allocate(PageLayout.EXTENT_BYTES);
            for (int extent = 0; extent < EXTENTS; extent++) {
                long first = (long) extent * PageLayout.EXTENT_PAGES;
                for (int i = 0; i < PageLayout.EXTENT_PAGES; i++) {
                    CacheFixture.fill(buffer + ((long) i << PageLayout.PAGE_SHIFT), first + i, GENERATION);
                }
                if (extent % 8 == 7) {
                    file.writeThrough(first, PageLayout.EXTENT_PAGES, buffer);
                } else {
                    file.insertDirty(first, 20, buffer);
                    file.insertDirty(first + 20, 12, buffer + 20 * PageLayout.PAGE_BYTES);
                }
            }
            pool.free(buffer, PageLayout.EXTENT_BYTES);
            file.writeBackAll();
            assertEquals(0, file.dirtyPages());
            assertEquals((long) PAGES << PageLayout.PAGE_SHIFT, device.bytesWritten());
        }
    }

    private void readPages(BlockDevice device, MemoryPool pool) {
        try (PageCache cache = new PageCache(pool, 1 << 20, epochs);
                CachedFile file = cache.attach(device, CacheFixture.STORE)) {
            for (long page = 0; page < PAGES; page++) {
                if (page % 64 == 0) {
                    file.prefetch(page, PageLayout.EXTENT_PAGES, CacheFixture.TYPE, GENERATION);
                }
                long address = file.lockShared(page, CacheFixture.TYPE, GENERATION);
                CacheFixture.check(address, page, GENERATION);
                file.unlockShared(address);
            }
            assertThrows(CorruptionException.class, () -> file.lockShared(1, CacheFixture.TYPE, GENERATION + 1));
        }
    }

    private void readAhead(BlockDevice device, MemoryPool pool) {
        try (PageCache cache = new PageCache(pool, 1 << 20, epochs);
                CachedFile file = cache.attach(device, CacheFixture.STORE);
                ExtentReader reader = new ExtentReader(file, 4)) {
            long[] buffers = {pool.allocate(PageLayout.EXTENT_BYTES), pool.allocate(PageLayout.EXTENT_BYTES)};
            int[] requests = new int[2];
            for (int extent = 0; extent < EXTENTS; extent++) {
                if (extent >= 2) {
                    finish(reader, requests[extent & 1], extent - 2, buffers[extent & 1]);
                }
                requests[extent & 1] = reader.begin(
                        (long) extent * PageLayout.EXTENT_PAGES,
                        PageLayout.EXTENT_PAGES,
                        buffers[extent & 1],
                        CacheFixture.TYPE,
                        GENERATION);
            }
            finish(reader, requests[0], EXTENTS - 2, buffers[0]);
            finish(reader, requests[1], EXTENTS - 1, buffers[1]);
            pool.free(buffers[0], PageLayout.EXTENT_BYTES);
            pool.free(buffers[1], PageLayout.EXTENT_BYTES);
        }
    }

    private static void finish(ExtentReader reader, int request, int extent, long buffer) {
        reader.finish(request);
        for (int i = 0; i < PageLayout.EXTENT_PAGES; i++) {
            CacheFixture.check(
                    buffer + ((long) i << PageLayout.PAGE_SHIFT),
                    (long) extent * PageLayout.EXTENT_PAGES + i,
                    GENERATION);
        }
    }
}
