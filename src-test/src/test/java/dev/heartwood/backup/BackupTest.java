package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.BackupReport;
import dev.heartwood.Durability;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreIoException;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Backups that succeed. */
class BackupTest {
    private static byte[] key(int number) {
        return String.format("%08d", number).getBytes();
    }

    @Test
    void aBackupOfAStoreThatIsWrittenIsOnePointInTime() throws InterruptedException {
        SimulatedMachine machine = new SimulatedMachine(1);
        AtomicInteger acknowledged = new AtomicInteger();
        AtomicReference<Throwable> failure = new AtomicReference<>();
        List<Integer> least = new ArrayList<>();
        int rounds = 4;
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            AtomicInteger left = new AtomicInteger(rounds);
            Thread writer = new Thread(() -> {
                try {
                    for (int i = 0; left.get() > 0; i++) {
                        store.put(key(i), new byte[200], i % 2 == 0 ? Durability.NONE : Durability.BUFFERED);
                        acknowledged.set(i + 1);
                    }
                } catch (Throwable e) {
                    failure.set(e);
                }
            });
            writer.start();
            while (left.get() > 0) {
                least.add(acknowledged.get());
                // Two to one directory, one after the other, and two to directories of their own.
                int round = rounds - left.get();
                store.backup(round < 2 ? TARGET : Path.of("simulated", "target" + round));
                left.decrementAndGet();
            }
            writer.join();
        }
        assertEquals(null, failure.get());
        for (int round = 1; round < rounds; round++) {
            Path directory = round < 2 ? TARGET : Path.of("simulated", "target" + round);
            try (KeyValueStore copy = BackupFixture.openExisting(machine, directory)) {
                int count = 0;
                while (copy.contains(key(count))) {
                    count++;
                }
                assertTrue(count >= least.get(round), count + " writes, " + least.get(round) + " before the call");
                for (int i = count; i < acknowledged.get(); i++) {
                    assertTrue(!copy.contains(key(i)), "write " + i + " is there and " + count + " is not");
                }
                assertTrue(copy.verify().isClean());
            }
        }
    }

    @Test
    void theSecondBackupCopiesWhatIsNew() {
        SimulatedMachine machine = new SimulatedMachine(2);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SplittableRandom random = new SplittableRandom(2);
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            for (int i = 0; i < 20_000; i++) {
                byte[] value = new byte[200];
                random.nextBytes(value);
                store.put(key(i), value);
                model.put(key(i), value);
            }
            store.settle();
            BackupReport first = store.backup(TARGET);
            assertEquals(first.pages(), first.pagesCopied());
            for (int i = 0; i < 10; i++) {
                store.put(key(i), new byte[i]);
                model.put(key(i), new byte[i]);
            }
            long readBefore = store.stats().dataBytesRead();
            BackupReport second = store.backup(TARGET);
            assertTrue(second.pagesCopied() < first.pagesCopied() / 10, first + ", then " + second);
            assertTrue(second.pages() > first.pages() / 2, second.toString());
            long read = store.stats().dataBytesRead() - readBefore;
            assertTrue(read < first.pages() * BackupFixture.PAGE_BYTES / 4, read + " bytes of the source were read again");
            BackupReport third = store.backup(TARGET);
            assertEquals(0, third.pagesCopied(), third.toString());
        }
        BackupFixture.requireContents(machine, TARGET, model, "backup");
    }

    @Test
    void aTargetThatCannotBypassThePageCacheIsWrittenThroughIt() {
        SimulatedMachine machine = new SimulatedMachine(4);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            for (OperationKind kind : new OperationKind[] {OperationKind.CREATE, OperationKind.OPEN}) {
                store.put(key(kind.ordinal()), new byte[100]);
                model.put(key(kind.ordinal()), new byte[100]);
                machine.faults().fail(kind, 1, Errno.EINVAL, Duration.ONCE);
                store.backup(TARGET);
            }
            assertEquals(2, machine.faults().injected());
            machine.faults().fail(OperationKind.OPEN, 1, Errno.EACCES, Duration.ONCE);
            assertThrows(StoreIoException.class, () -> store.backup(TARGET), "that is something else");
            assertEquals(3, machine.faults().injected());
            machine.faults().fail(OperationKind.OPEN, 1, Errno.EINVAL, Duration.FOR_GOOD);
            StoreIoException refusal = assertThrows(StoreIoException.class, () -> store.backup(TARGET));
            assertEquals(Errno.EINVAL.name(), refusal.errnoName());
            machine.faults().heal();
        }
        BackupFixture.requireContents(machine, TARGET, model, "backup");
    }

    @Test
    void manyBackupsToOneDirectoryHoldTheLast() {
        SimulatedMachine machine = new SimulatedMachine(3);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        SplittableRandom random = new SplittableRandom(3);
        KeyValueStore store = BackupFixture.open(machine, STORE);
        long copied = 0;
        for (int round = 0; round < 12; round++) {
            BackupFixture.write(store, model, random, 1500);
            if (round % 4 == 3) {
                store.close();
                store = BackupFixture.open(machine, STORE);
            }
            copied += store.backup(TARGET).pagesCopied();
            SimulatedMachine copy = machine.crash(CrashKind.KILL, new SplittableRandom(round));
            BackupFixture.requireContents(copy, TARGET, model, "round " + round);
        }
        store.close();
        assertTrue(copied > 0);
    }

    /** Rot in a backup is found by the next one, which writes the page again. */
    @Test
    void theNextBackupMendsADamagedOne() {
        SimulatedMachine machine = new SimulatedMachine(4);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(4), 3000);
            store.settle();
            store.backup(TARGET);
            long pages = machine.size(TARGET, BackupFixture.DATA) / BackupFixture.PAGE_BYTES;
            for (long page = 32; page < pages; page += 3) {
                machine.flip(TARGET, BackupFixture.DATA, page * BackupFixture.PAGE_BYTES + 300, 8);
            }
            BackupReport mending = store.backup(TARGET);
            assertTrue(mending.pagesCopied() > 5, mending.toString());
        }
        BackupFixture.requireContents(machine, TARGET, model, "mended backup");
    }

    /** Page numbers and ids come again, with other contents, in a store that went back to an older copy of itself. */
    @Test
    void aStoreThatWentBackInTimeDoesNotTrustTheBackupOfItsOtherFuture() {
        SimulatedMachine machine = new SimulatedMachine(5);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(5), 2000);
            store.settle();
        }
        SimulatedMachine past = machine.crash(CrashKind.KILL, new SplittableRandom(5));
        // The same keys, few enough for one memtable: the same pages of the same branch, with other values.
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            for (int i = 0; i < 100; i++) {
                store.put(key(i), new byte[] {1});
            }
            store.backup(TARGET);
        }
        for (String name : machine.files(TARGET)) {
            past.place(TARGET, name, machine.contents(TARGET, name));
        }
        try (KeyValueStore store = BackupFixture.open(past, STORE)) {
            for (int i = 0; i < 100; i++) {
                store.put(key(i), new byte[] {2});
                model.put(key(i), new byte[] {2});
            }
            store.backup(TARGET);
        }
        BackupFixture.requireContents(past, TARGET, model, "backup of the other future");
    }

    private static void putAll(KeyValueStore store, int count, char value) {
        for (int i = 0; i < count; i++) {
            store.put(key(i), new byte[] {(byte) value});
        }
    }

    /** A restored copy of a store came to a checkpoint of the same number, and its pages in the directory were taken for the store's own. */
    @Test
    void aStoreDoesNotTrustTheBackupOfItsCopyWhateverTheCheckpointsNumber() {
        SimulatedMachine machine = new SimulatedMachine(6);
        Path restored = Path.of("simulated", "restored");
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            putAll(store, 1000, '-');
        }
        for (String name : machine.files(STORE)) {
            machine.place(restored, name, machine.contents(STORE, name));
        }
        long number;
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            putAll(store, 2000, 'a');
            number = store.backup(TARGET).checkpoint();
        }
        try (KeyValueStore store = BackupFixture.open(machine, restored)) {
            putAll(store, 2000, 'r');
            while (store.backup(Path.of("simulated", "elsewhere")).checkpoint() < number) {
                store.put(key(0), new byte[] {'r'});
            }
            assertEquals(number, store.backup(TARGET).checkpoint());
        }
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            store.backup(TARGET);
        }
        for (int i = 0; i < 2000; i++) {
            model.put(key(i), new byte[] {'a'});
        }
        BackupFixture.requireContents(machine, TARGET, model, "backup after that of the copy");
    }

    /** Its record, and the store's note of it, have the number of the checkpoint alone. */
    @Test
    void aBackupOfAnOlderVersionIsComparedAsAWholeOnce() {
        SimulatedMachine machine = new SimulatedMachine(7);
        NavigableMap<byte[], byte[]> model = BackupFixture.newMap();
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(7), 3000);
            store.settle();
            BackupReport made = store.backup(TARGET);
            ByteBuffer record = image(machine, TARGET, "backup");
            ByteBuffer olderRecord = ByteBuffer.allocate(record.remaining() - 9);
            olderRecord.put(record.slice(0, 16)).put(record.slice(25, record.remaining() - 25));
            place(machine, TARGET, "backup", olderRecord);
            ByteBuffer note = image(machine, STORE, "backups-made");
            place(machine, STORE, "backups-made", note.putLong(8, made.checkpoint()));
            assertTrue(bytesReadBy(store) >= made.pages() * BackupFixture.PAGE_BYTES, "not compared");
            assertTrue(bytesReadBy(store) < made.pages() * BackupFixture.PAGE_BYTES / 4, "compared although both know it");
        }
        BackupFixture.requireContents(machine, TARGET, model, "backup");
    }

    private static long bytesReadBy(KeyValueStore store) {
        long before = store.stats().dataBytesRead();
        assertEquals(0, store.backup(TARGET).pagesCopied());
        return store.stats().dataBytesRead() - before;
    }

    /** What is behind the checksum. */
    private static ByteBuffer image(SimulatedMachine machine, Path directory, String name) {
        byte[] file = machine.contents(directory, name);
        return ByteBuffer.wrap(file, 4, file.length - 4).slice().order(ByteOrder.LITTLE_ENDIAN);
    }

    private static void place(SimulatedMachine machine, Path directory, String name, ByteBuffer image) {
        CRC32C checksum = new CRC32C();
        checksum.update(image.array(), image.arrayOffset(), image.capacity());
        ByteBuffer file = ByteBuffer.allocate(4 + image.capacity()).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt((int) checksum.getValue()).put(image.rewind());
        machine.place(directory, name, file.array());
    }
}
