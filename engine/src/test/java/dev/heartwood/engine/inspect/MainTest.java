package dev.heartwood.engine.inspect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.CorruptionException;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions;
import dev.heartwood.VerifyReport;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.engine.verify.StoreFixture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.function.LongFunction;
import java.util.function.Supplier;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The commands as a user meets them: exit codes and what is printed. */
class MainTest {
    @TempDir
    static Path base;

    private static Path sound;

    @BeforeAll
    static void makeStore() {
        sound = base.resolve("sound");
        StoreFixture.makeClosed(sound, 2);
    }

    @Test
    void aSoundStoreIsClean() {
        Outcome outcome = Outcome.of("verify", sound.toString());
        assertEquals(Main.CLEAN, outcome.code(), outcome.toString());
        assertTrue(outcome.out().endsWith("clean\n"), outcome.out());
    }

    @Test
    void aDescriptionNamesTheParts() {
        Outcome outcome = Outcome.of("inspect", sound.toString());
        assertEquals(Main.CLEAN, outcome.code(), outcome.toString());
        for (String part : new String[] {
            "identity", "format", "checkpoint", "sequence", "root", "leaves", "entries", "bits per key", "data file",
            "free", "used to entries", "log-", "memtable", "size_tiered"
        }) {
            assertTrue(outcome.out().contains(part), part + " in\n" + outcome.out());
        }
    }

    @Test
    void anEmptyStoreIsCleanAndCanBeDescribed() {
        Path empty = base.resolve("empty");
        Heartwood.open(empty, StoreFixture.options()).close();
        assertEquals(Main.CLEAN, Outcome.of("verify", empty.toString()).code());
        assertEquals(Main.CLEAN, Outcome.of("inspect", empty.toString()).code());
    }

    @Test
    void damageExitsWithItsOwnCode() throws IOException {
        Path damaged = base.resolve("damaged");
        StoreFixture.copy(sound, damaged);
        byte[] bytes = Files.readAllBytes(damaged.resolve("data.hw"));
        bytes[100] ^= 1;
        Files.write(damaged.resolve("data.hw"), bytes);
        Outcome one = Outcome.of("verify", damaged.toString());
        assertEquals(Main.DAMAGED, one.code());
        assertTrue(one.out().contains("superblock, copy 0") && one.out().contains("damaged: 1 problem; where open refuses the store, salvage copies what can be read"), one.out());

        bytes[16 * PageLayout.PAGE_BYTES + 100] ^= 1;
        Files.write(damaged.resolve("data.hw"), bytes);
        Outcome both = Outcome.of("verify", damaged.toString());
        assertEquals(Main.DAMAGED, both.code());
        assertTrue(both.out().contains("superblock, copy 1"), both.out());
        assertTrue(both.out().contains("note: without a superblock nothing else can be verified; salvage looks for the tree on all pages"), both.out());
        assertTrue(both.out().endsWith("damaged: 2 problems; where open refuses the store, salvage copies what can be read\n"), both.out());
        assertEquals(Main.DAMAGED, Outcome.of("inspect", damaged.toString()).code());
    }

    /** Of a backup it counted as a store that cannot be opened, and so it did of a salvage that finds nothing to begin with. */
    @Test
    void damageOfBothSuperblocksExitsWithTheCodeOfDamageWhateverTheCommand() throws IOException {
        Path damaged = base.resolve("beheaded");
        StoreFixture.copy(sound, damaged);
        IntPredicate isSuperblock = page -> page == 0 || page == 16;
        flip(damaged, isSuperblock);
        assertEquals(Main.DAMAGED, Outcome.of("verify", damaged.toString()).code());
        assertEquals(Main.DAMAGED, Outcome.of("inspect", damaged.toString()).code());
        Path to = base.resolve("of-beheaded");
        Outcome backup = Outcome.of("backup", damaged.toString(), to.toString());
        assertEquals(Main.DAMAGED, backup.code(), backup.toString());
        assertTrue(backup.err().contains("SUPERBLOCK") && backup.err().contains("salvage"), backup.toString());
        assertFalse(Files.exists(to));

        flip(damaged, isSuperblock.negate());
        Outcome salvage = Outcome.of("salvage", damaged.toString(), to.toString());
        assertEquals(Main.DAMAGED, salvage.code(), salvage.toString());
        assertFalse(Files.exists(to));
    }

    /** A backup exited with the code for copies that cannot be written, and one that could not open the store as if there were none. */
    @Test
    void whatTheDeviceCannotReadIsDamage() throws IOException {
        Path failing = base.resolve("failing");
        StoreFixture.copy(sound, failing);
        Path to = base.resolve("of-failing");
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        CopyCommands commands = new CopyCommands(new PrintStream(said), new PrintStream(said));
        for (Path read : List.of(failing, to)) {
            ReadFailedException failure = new ReadFailedException(5, "EIO", "pread", read.resolve("data.hw").toString(), 0);
            try (KeyValueStore store = Heartwood.open(failing, StoreFixture.options())) {
                KeyValueStore copied = with(store, Map.of("backup", () -> {
                    throw failure;
                }));
                assertEquals(read == to ? Main.CANNOT_WRITE : Main.DAMAGED, commands.backup(copied, to), said.toString());
            }
        }
    }

    /** It was made again with more memory, or exited as if the store could not be opened, or were damaged. */
    @Test
    void aBackupThatWasMadeStaysMadeWhateverClosingTheStoreMeets() {
        String data = sound.resolve("data.hw").toString();
        CorruptionException damage = new CorruptionException(data, 9, "TRUNK", "one", "another");
        List<Throwable> failures = List.of(
                new InsufficientMemoryException("no memory for a checkpoint"),
                new StoreIoException(5, "EIO", "pwrite", data, 0),
                damage,
                new ReadFailedException(5, "EIO", "pread", data, 0),
                new OutOfMemoryError("heap"));
        for (Throwable failure : failures) {
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            CopyCommands commands = new CopyCommands(new PrintStream(said), new PrintStream(said));
            AtomicInteger opens = new AtomicInteger();
            Path to = base.resolve("of-unclosed-" + failures.indexOf(failure));
            LongFunction<KeyValueStore> opening = mib -> {
                opens.incrementAndGet();
                KeyValueStore store = Heartwood.open(sound, StoreFixture.options());
                return with(store, Map.of("close", failing(store, failure)));
            };
            assertEquals(Main.CANNOT_CLOSE, commands.backup(opening, to), said.toString());
            assertEquals(1, opens.get(), said.toString());
            String why = failure instanceof Error ? Main.heapIsFull() : failure.getMessage();
            assertTrue(said.toString().endsWith("were copied, verified\n" + why + "; the copy was made, and is a store\n"), said.toString());
            assertEquals(Main.CLEAN, Outcome.of("verify", to.toString()).code());
            int code = commands.backup(
                    mib -> with(null, Map.of("close", failing(null, failure), "backup", failing(null, damage))), to);
            assertEquals(Main.DAMAGED, code, said.toString());
            assertTrue(said.toString().endsWith("; salvage copies what can be read\n" + why + "\n"), said.toString());
        }
    }

    /** It was said to be incomplete and no store. */
    @Test
    void aSalvageThatWasMadeStaysMadeWhateverClosingTheCopyMeets() {
        StoreIoException failure = new StoreIoException(5, "EIO", "pwrite", "data.hw", 0);
        for (Throwable each : List.of(failure, new OutOfMemoryError("heap"))) {
            Path to = base.resolve("salvaged-unclosed-" + (each == failure));
            ByteArrayOutputStream said = new ByteArrayOutputStream();
            int code = salvage(to, said, store -> Map.of("close", failing(store, each)));
            assertEquals(Main.CANNOT_CLOSE, code, said.toString());
            String why = each == failure ? failure.getMessage() : Main.heapIsFull();
            assertTrue(said.toString().endsWith("0 losses\n" + why + "; the copy was made, and is a store\n"), said.toString());
            assertEquals(Main.CLEAN, Outcome.of("verify", to.toString()).code());
        }
    }

    /** Closes a store, if there is one, and fails. */
    private static Supplier<Object> failing(KeyValueStore store, Throwable failure) {
        return () -> {
            if (store != null) {
                store.close();
            }
            if (failure instanceof Error error) {
                throw error;
            }
            throw (StoreException) failure;
        };
    }

    /** The store was said to be damaged, and that salvage copies what can be read. */
    @Test
    void damageThatIsReadBackFromABackupIsNotThatOfTheStore() {
        Path to = base.resolve("rotting");
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        CopyCommands commands = new CopyCommands(new PrintStream(said), new PrintStream(said));
        for (Path read : List.of(sound, to)) {
            KeyValueStore copied = with(null, Map.of("backup", () -> {
                throw new CorruptionException(read.resolve("data.hw").toString(), 9, "TRUNK", "one", "another");
            }));
            assertEquals(read == to ? Main.CANNOT_WRITE : Main.DAMAGED, commands.backup(copied, to), said.toString());
        }
    }

    private static void flip(Path directory, IntPredicate pages) throws IOException {
        Path data = directory.resolve("data.hw");
        byte[] bytes = Files.readAllBytes(data);
        for (int page = 0; page < bytes.length / PageLayout.PAGE_BYTES; page++) {
            if (pages.test(page)) {
                bytes[page * PageLayout.PAGE_BYTES + 100] ^= 1;
            }
        }
        Files.write(data, bytes);
    }

    @Test
    void wrongArgumentsAreRefused() {
        assertEquals(Main.WRONG_ARGUMENTS, Outcome.of().code());
        assertEquals(Main.WRONG_ARGUMENTS, Outcome.of("verify").code());
        assertEquals(Main.WRONG_ARGUMENTS, Outcome.of("mend", sound.toString()).code());
        assertEquals(Main.WRONG_ARGUMENTS, Outcome.of("verify", sound.toString(), "more").code());
        assertEquals(Main.WRONG_ARGUMENTS, Outcome.of("verify", "\0").code());
    }

    @Test
    void whatIsNoStoreIsLeftAsItIs() throws IOException {
        Path missing = base.resolve("missing");
        assertEquals(Main.CANNOT_OPEN, Outcome.of("verify", missing.toString()).code());
        assertFalse(Files.exists(missing));
        Path other = Files.createDirectory(base.resolve("other"));
        Files.writeString(other.resolve("letter.txt"), "not a store");
        assertEquals(Main.CANNOT_OPEN, Outcome.of("inspect", other.toString()).code());
        assertFalse(Files.exists(other.resolve("LOCK")));
        assertEquals(Main.CANNOT_OPEN, Outcome.of("verify", other.resolve("letter.txt").toString()).code());
    }

    /** A backup left its lock there, and a salvage said that the directory was no store. */
    @Test
    void aDirectoryOfOtherThingsIsNoTargetAndLeftAsItIs() throws IOException {
        Path other = Files.createDirectory(base.resolve("other-target"));
        Files.writeString(other.resolve("letter.txt"), "not a store");
        for (String command : new String[] {"backup", "salvage"}) {
            Outcome outcome = Outcome.of(command, sound.toString(), other.toString());
            assertEquals(Main.CANNOT_OPEN, outcome.code(), outcome.toString());
            assertTrue(outcome.err().startsWith("cannot write a copy to " + other + ": it is not empty"), outcome.toString());
            assertFalse(Files.exists(other.resolve("LOCK")), command);
        }
        assertEquals(Main.CANNOT_OPEN, Outcome.of("salvage", sound.toString(), other.resolve("letter.txt").toString()).code());
    }

    /** It was said to be open, in the very process that said so. */
    @Test
    void aStoreIsNotCopiedToItself() {
        for (String command : new String[] {"backup", "salvage"}) {
            Outcome outcome = Outcome.of(command, sound.toString(), sound.resolve("..").resolve("sound").toString());
            assertEquals(Main.CANNOT_OPEN, outcome.code(), outcome.toString());
            assertTrue(outcome.err().contains("to itself"), outcome.toString());
        }
    }

    /** A store with much memory was killed with a write in its log for which others have no room. */
    @Test
    void aBackupHasAsMuchMemoryAsTheLogNeeds() throws IOException {
        Path open = base.resolve("large-open");
        Path killed = base.resolve("large-killed");
        byte[] key = {1};
        int length = (32 << 20) - key.length;
        StoreOptions options = StoreOptions.builder().memory(ByteSize.gib(2)).build();
        try (KeyValueStore store = Heartwood.open(open, options)) {
            store.put(key, new byte[length]);
            StoreFixture.copy(open, killed);
        }
        StoreOptions little = StoreOptions.builder().memory(ByteSize.mib(256)).build();
        String refusal = assertThrows(InsufficientMemoryException.class, () -> Heartwood.open(killed, little)).getMessage();
        assertTrue(refusal.contains("raise the memory option"), refusal);
        Path to = base.resolve("large-backup");
        Outcome outcome = Outcome.of("backup", killed.toString(), to.toString());
        assertEquals(Main.CLEAN, outcome.code(), outcome.toString());
        try (KeyValueStore store = Heartwood.open(to, little)) {
            assertEquals(length, store.get(key).length);
        }
    }

    @Test
    void aBackupIsAStoreAndTheSecondCopiesLess() {
        Path from = base.resolve("original");
        Path to = base.resolve("backup");
        StoreFixture.makeClosed(from, 7);
        Outcome first = Outcome.of("backup", from.toString(), to.toString());
        assertEquals(Main.CLEAN, first.code(), first.toString());
        Outcome second = Outcome.of("backup", from.toString(), to.toString());
        assertEquals(Main.CLEAN, second.code(), second.toString());
        assertTrue(second.out().contains("of which 0 were copied"), second.out());
        assertEquals(Main.CLEAN, Outcome.of("verify", to.toString()).code());
        assertEquals(Main.CANNOT_OPEN, Outcome.of("backup", base.resolve("nowhere").toString(), to.toString()).code());
        assertEquals(Main.CANNOT_OPEN, Outcome.of("backup", from.toString(), sound.toString()).code());
        assertEquals(Main.WRONG_ARGUMENTS, Outcome.of("backup", from.toString()).code());
    }

    @Test
    void salvageSaysWhetherSomethingWasLost() throws IOException {
        Path damaged = base.resolve("to-salvage");
        StoreFixture.copy(sound, damaged);
        Outcome whole = Outcome.of("salvage", damaged.toString(), base.resolve("salvaged").toString());
        assertEquals(Main.CLEAN, whole.code(), whole.toString());
        long page = StoreFixture.pages(damaged).get(PageType.BRANCH_LEAF).getFirst();
        byte[] bytes = Files.readAllBytes(damaged.resolve("data.hw"));
        bytes[(int) page * PageLayout.PAGE_BYTES + 2000] ^= 1;
        Files.write(damaged.resolve("data.hw"), bytes);
        Outcome part = Outcome.of("salvage", damaged.toString(), base.resolve("salvaged-part").toString());
        assertEquals(Main.DAMAGED, part.code(), part.toString());
        assertTrue(part.out().contains("lost: keys from \"user"), part.out());
        assertEquals(Main.CLEAN, Outcome.of("verify", base.resolve("salvaged-part").toString()).code());
        assertEquals(Main.CANNOT_OPEN, Outcome.of("salvage", damaged.toString(), sound.toString()).code());
        assertEquals(Main.CANNOT_OPEN, Outcome.of("salvage", damaged.toString(), damaged.toString()).code());
        assertEquals(Main.CANNOT_OPEN, Outcome.of("salvage", base.resolve("nowhere").toString(), "x").code());
        assertEquals(Main.WRONG_ARGUMENTS, Outcome.of("salvage", damaged.toString()).code());
    }

    /** It said that no record may be older than it should be, although what the log lost may be of any. */
    @Test
    void salvageSaysWhereTheLogHasLostSomething() throws IOException {
        Path damaged = base.resolve("log-cut");
        StoreFixture.copy(sound, damaged);
        Files.write(damaged.resolve("log-000999.seg"), new byte[] {1, 2, 3, 4, 5, 6, 7, 8, 9});
        Outcome part = Outcome.of("salvage", damaged.toString(), base.resolve("log-cut-salvaged").toString());
        assertEquals(Main.DAMAGED, part.code(), part.toString());
        assertTrue(part.out().contains("1 losses, some of keys not known: any other record"), part.out());
    }

    /** It was described as sound, which no open would have, and salvage had lost nothing. */
    @Test
    void anOlderDataFileIsDamageWhateverTheCommand() throws IOException {
        Path mixed = base.resolve("mixed");
        Heartwood.open(mixed, StoreFixture.options()).close();
        byte[] old = Files.readAllBytes(mixed.resolve("data.hw"));
        try (KeyValueStore store = Heartwood.open(mixed, StoreFixture.options())) {
            store.put(new byte[] {1}, new byte[] {2});
        }
        Files.write(mixed.resolve("data.hw"), old);
        for (String command : new String[] {"verify", "inspect"}) {
            Outcome outcome = Outcome.of(command, mixed.toString());
            assertEquals(Main.DAMAGED, outcome.code(), outcome.toString());
            assertTrue(outcome.out().contains("as the file session says"), outcome.toString());
        }
        Outcome salvage = Outcome.of("salvage", mixed.toString(), base.resolve("mixed-salvaged").toString());
        assertEquals(Main.DAMAGED, salvage.code(), salvage.toString());
    }

    /** It counted as a store that cannot be opened, when the device failed and was not full. */
    @Test
    void aCopyThatCannotBeWrittenExitsWithItsOwnCode() {
        StoreIoException failure = new StoreIoException(5, "EIO", "pwrite", "data.hw", 0);
        assertSalvageIsUnfinished("salvaged-failing", "EIO", Map.of("put", () -> {
            throw failure;
        }));
    }

    /** That ended the process with the stack of an exception that no caller knows. */
    @Test
    void aCopyThatIsDamagedExitsWithThatCodeToo() {
        VerifyReport found = new VerifyReport(List.of("branch 7: page 9"), List.of(), 0, 0, 0, 0, 0, 0, 0, 0);
        String said = "page 0 (COPY) is damaged: expected a sound copy, found branch 7: page 9";
        assertSalvageIsUnfinished("salvaged-damaged", said, Map.of("verify", () -> found));
    }

    /** Salvages to a store of which some methods do something else. */
    private static void assertSalvageIsUnfinished(String name, String reason, Map<String, Supplier<Object>> instead) {
        Path to = base.resolve(name);
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        assertEquals(Main.CANNOT_WRITE, salvage(to, said, store -> instead));
        assertTrue(said.toString().contains(reason) && said.toString().contains("no store"), said.toString());
        Outcome left = Outcome.of("verify", to.toString());
        assertEquals(Main.CANNOT_OPEN, left.code());
        assertTrue(left.err().contains("a salvage to it was never finished"), left.toString());
    }

    private static int salvage(
            Path to, ByteArrayOutputStream said, Function<KeyValueStore, Map<String, Supplier<Object>>> instead) {
        try (EngineEnvironment environment = EngineEnvironment.open(
                        EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build());
                Storage from = StoreFixture.storage(sound)) {
            CopyCommands commands = new CopyCommands(new PrintStream(said), new PrintStream(said));
            return commands.salvage(from, to, options -> {
                KeyValueStore store = environment.openForSalvage(to, options);
                return with(store, instead.apply(store));
            });
        }
    }

    private static KeyValueStore with(KeyValueStore store, Map<String, Supplier<Object>> instead) {
        return (KeyValueStore) Proxy.newProxyInstance(
                KeyValueStore.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, values) -> {
                    Supplier<Object> other = instead.get(method.getName());
                    return other == null ? method.invoke(store, values) : other.get();
                });
    }

    /** Trying again hid why the target was refused: it had been begun by then. */
    @Test
    void onlyADirectoryThatRefusesToBeReadPastTheCacheIsReadThroughIt() {
        Path target = base.resolve("elsewhere").resolve("data.hw");
        for (Path refused : List.of(target, sound.resolve("data.hw"))) {
            AtomicInteger calls = new AtomicInteger();
            StoreIoException refusal = assertThrows(StoreIoException.class, () -> Main.over(sound, storage -> {
                calls.incrementAndGet();
                throw new StoreIoException(22, "EINVAL", "open", refused.toString(), -1);
            }));
            assertEquals(refused.toString(), refusal.path());
            assertEquals(refused == target ? 1 : 2, calls.get());
        }
    }

    @Test
    void anOpenStoreIsRefused() {
        Path open = base.resolve("open");
        try (KeyValueStore store = Heartwood.open(open, StoreFixture.options())) {
            store.put(new byte[] {1}, new byte[] {2});
            Outcome outcome = Outcome.of("verify", open.toString());
            assertEquals(Main.CANNOT_OPEN, outcome.code());
            assertTrue(outcome.err().contains(Long.toString(ProcessHandle.current().pid())), outcome.err());
            assertEquals(Main.CANNOT_OPEN, Outcome.of("inspect", open.toString()).code());
        }
        assertEquals(Main.CLEAN, Outcome.of("verify", open.toString()).code());
    }

    @Test
    void aNewerFormatIsRefused() throws IOException {
        Path newer = base.resolve("newer");
        StoreFixture.copy(sound, newer);
        try (Storage storage = StoreFixture.storage(newer);
                OpenedStore store = new OpenedStore(storage);
                Superblocks superblocks = new Superblocks(store.device(), store.pool())) {
            Superblock s = store.newest();
            superblocks.write(new Superblock(
                    99, s.storeId(), s.number(), s.generation(), s.sequence(), s.nextId(), s.rootPages(),
                    s.rootGeneration(), s.options()));
        }
        assertEquals(Main.CANNOT_OPEN, Outcome.of("verify", newer.toString()).code());
        assertEquals(Main.CANNOT_OPEN, Outcome.of("inspect", newer.toString()).code());
    }
}
