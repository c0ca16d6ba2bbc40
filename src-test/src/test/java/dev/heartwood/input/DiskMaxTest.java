package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.FileStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A data file that may not grow beyond what the options say. */
class DiskMaxTest {
    private static final ByteSize LIMIT = ByteSize.mib(12);
    private static final int VALUE_BYTES = 1000;

    /** More than fits, however dense. */
    private static final int RECORDS_MAX = (int) (2 * LIMIT.bytes() / VALUE_BYTES);

    private final TestDirectory directory = new TestDirectory("limit");

    @AfterEach
    void remove() {
        directory.close();
    }

    private KeyValueStore open(ByteSize diskMax) {
        return Heartwood.open(
                directory.path(),
                StoreOptions.builder()
                        .memory(EnvironmentOptions.MEMORY_MIN)
                        .memtable(ByteSize.kib(256))
                        .diskMax(diskMax)
                        .build());
    }


    /** How many records it takes until it refuses. */
    private static int fill(KeyValueStore store, int from) {
        for (int i = from; i < from + RECORDS_MAX; i++) {
            try {
                store.put(FillRecords.key(i), FillRecords.value(i, VALUE_BYTES));
            } catch (NoSpaceException full) {
                return i;
            }
        }
        throw new AssertionError(RECORDS_MAX + " records of " + VALUE_BYTES + " bytes fit into " + LIMIT);
    }

    private static void check(KeyValueStore store, int records) {
        for (int i = 0; i < records; i++) {
            assertArrayEquals(FillRecords.value(i, VALUE_BYTES), store.get(FillRecords.key(i)), "record " + i);
        }
    }

    private long fileBytes() throws IOException {
        return Files.size(directory.path().resolve("data.hw"));
    }

    @Test
    void whatWouldNeedMoreIsRefusedAndNothingIsLost() throws IOException {
        KeyValueStore store = open(LIMIT);
        int records = fill(store, 0);
        assertTrue(fileBytes() <= LIMIT.bytes(), fileBytes() + " bytes");
        assertTrue((long) records * VALUE_BYTES > LIMIT.bytes() / 3, "refused after " + records);
        NoSpaceException refused = assertThrows(
                NoSpaceException.class, () -> store.put(FillRecords.key(records), FillRecords.value(records, VALUE_BYTES)));
        assertTrue(refused.getMessage().contains("full"), refused.getMessage());
        check(store, records);
        store.close();

        ByteSize more = ByteSize.mib(64);
        try (KeyValueStore roomier = open(more)) {
            check(roomier, records);
            for (int i = records; i < records + 5000; i++) {
                roomier.put(FillRecords.key(i), FillRecords.value(i, VALUE_BYTES));
            }
            check(roomier, records + 5000);
        }
        FileStoreHost.verify(directory.path());
    }

    /** A store that is larger than the limit; returns the bytes of its file. */
    private long fillBeyond(int records, ByteSize limit) throws IOException {
        try (KeyValueStore store = open(new ByteSize(0))) {
            for (int i = 0; i < records; i++) {
                store.put(FillRecords.key(i), FillRecords.value(i, VALUE_BYTES));
            }
            store.settle();
        }
        long bytes = fileBytes();
        assertTrue(bytes > limit.bytes(), bytes + " bytes");
        return bytes;
    }

    @Test
    void aStoreThatIsLargerAlreadyOpensAndGrowsNoMore() throws IOException {
        int records = 20_000;
        long before = fillBeyond(records, LIMIT);
        KeyValueStore store = open(LIMIT);
        check(store, records);
        int held = fill(store, records);
        check(store, held);
        assertTrue(fileBytes() <= before, fileBytes() + " bytes, " + before + " before");
        store.close();
        FileStoreHost.verify(directory.path());
        try (KeyValueStore again = open(new ByteSize(0))) {
            check(again, held);
        }
    }

    @Test
    void aStoreThatWasLargerTakesPutsOnceEnoughIsDeleted() throws IOException {
        ByteSize limit = ByteSize.mib(8);
        int records = 9000;
        long before = fillBeyond(records, limit);
        try (KeyValueStore store = open(limit)) {
            assertThrows(NoSpaceException.class, () -> store.put(FillRecords.key(records), FillRecords.value(records, VALUE_BYTES)));
            int kept = records / 9;
            for (int i = kept; i < records; i++) {
                store.delete(FillRecords.key(i));
            }
            for (int i = kept; i < kept + 200; i++) {
                store.put(FillRecords.key(i), FillRecords.value(i, VALUE_BYTES));
            }
            check(store, kept + 200);
            store.settle();
            long inUse = store.stats().liveBytes();
            assertTrue(inUse <= limit.bytes(), inUse + " bytes in use");
        }
        assertTrue(fileBytes() <= before, fileBytes() + " bytes, " + before + " before");
        FileStoreHost.verify(directory.path());
    }
}
