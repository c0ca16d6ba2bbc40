package dev.heartwood.engine.backup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.checkpoint.StoreFiles;
import dev.heartwood.engine.device.ArrayDevice;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.verify.Progress;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Backups whose pages lie beyond 8 TiB: their numbers were ints, so that such a store could not be copied. */
class LargeFileBackupTest {
    private static final long FAR = (1L << 31) + 5;

    private final ArrayDevice data = new ArrayDevice();

    /** The files of a directory but for the data file, which is in memory and has holes. */
    private Storage withHoles(Storage files) {
        return (Storage) Proxy.newProxyInstance(Storage.class.getClassLoader(), new Class<?>[] {Storage.class}, (p, method, arguments) -> {
            if (method.getName().equals("openDevice") && arguments[0].equals(StoreFiles.DATA)) {
                return data;
            }
            try {
                return method.invoke(files, arguments);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        });
    }

    @Test
    void theRecordNamesThem(@TempDir Path directory) {
        PageSet used = new PageSet();
        used.add(64, 32);
        used.add(FAR, 3);
        try (Storage files = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED)) {
            BackupRecord record = new BackupRecord(1, 2, 4, List.of(3L), used);
            record.write(files);
            assertEquals(record, BackupRecord.read(files));
            assertTrue(BackupRecord.read(files).used().containsAll(FAR, 3));
        }
    }

    @Test
    void whatWasOverwrittenIsPutBack(@TempDir Path directory) {
        try (Storage real = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED);
                MemoryPool pool = MemoryPool.open(1 << 20)) {
            Storage files = withHoles(real);
            data.allocate(FAR + PageLayout.EXTENT_PAGES << PageLayout.PAGE_SHIFT);
            long buffer = pool.allocate(PageLayout.EXTENT_BYTES);
            Memory.fill(buffer, PageLayout.EXTENT_BYTES, 7);
            data.write(FAR << PageLayout.PAGE_SHIFT, buffer, 3 * PageLayout.PAGE_BYTES);
            BackupUndo.keep(files, data, List.of(new BackupUndo.Place(FAR, 3)), buffer, Progress.SILENT);
            Memory.fill(buffer, PageLayout.EXTENT_BYTES, 8);
            data.write(FAR << PageLayout.PAGE_SHIFT, buffer, 3 * PageLayout.PAGE_BYTES);
            BackupUndo.apply(files, pool);
            assertEquals(7, data.block(FAR)[0]);
            assertEquals(7, data.block(FAR + 2)[PageLayout.PAGE_BYTES - 1]);
            assertFalse(BackupUndo.isPending(files));
            pool.free(buffer, PageLayout.EXTENT_BYTES);
        }
    }
}
