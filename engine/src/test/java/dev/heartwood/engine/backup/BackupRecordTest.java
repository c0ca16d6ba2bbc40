package dev.heartwood.engine.backup;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.checkpoint.CheckedFile;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The bytes of the file that a backup has. */
class BackupRecordTest {
    private static PageSet used() {
        PageSet used = new PageSet();
        used.add(64, 32);
        used.add(200, 3);
        return used;
    }

    @Test
    void hasTheseBytes(@TempDir Path directory) {
        try (Storage files = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED)) {
            BackupRecord record = new BackupRecord(1, 2, 0x0807060504030201L, List.of(9L), used());
            record.write(files);
            byte[] golden = HexFormat.of().parseHex("0c506e420100000000000000020000000000000000010203040506070801090000000000000040206803");
            assertArrayEquals(golden, files.readFile(BackupRecord.NAME, 1000));
            assertEquals(record, BackupRecord.read(files));
        }
    }

    @Test
    void thatOfAnOlderVersionNamesNoCompletion(@TempDir Path directory) {
        try (Storage files = new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED)) {
            ImageWriter older = new ImageWriter().putLong(1).putLong(2).putVarint(2).putLong(8).putLong(9);
            used().putTo(older);
            CheckedFile.write(files, BackupRecord.NAME, older);
            assertEquals(new BackupRecord(1, 2, BackupRecord.NONE, List.of(8L, 9L), used()), BackupRecord.read(files));
        }
    }
}
