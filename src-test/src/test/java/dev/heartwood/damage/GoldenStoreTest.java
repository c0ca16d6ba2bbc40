package dev.heartwood.damage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.FormatTooNewException;
import dev.heartwood.FormatTooOldException;
import dev.heartwood.IncompatibleOptionsException;
import dev.heartwood.KeyRange;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.OpenMode;
import dev.heartwood.engine.checkpoint.FormatVersion;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.store.StorePolicies;
import dev.heartwood.engine.trunk.Trunk.Heights;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.TailMergeOperator;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A store of every version of the format, killed with a log to replay, is opened by this one; versions that are not known and options that
 * do not fit are refused by name, with nothing rewritten.
 */
class GoldenStoreTest {
    private static final long SEED = 77;
    private static final int IMAGE_OFFSET = 44;

    private final Path directory = Specimen.DIRECTORY;

    /** Writes the golden store of the current format: {@code main FILE}. To be run once for a format, before it is released. */
    public static void main(String[] arguments) throws IOException {
        SimulatedMachine machine = new SimulatedMachine(SEED);
        KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options());
        write(store);
        SimulatedMachine killed = machine.crash(CrashKind.KILL, new SplittableRandom(SEED));
        try (OutputStream file = Files.newOutputStream(Path.of(arguments[0]));
                ZipOutputStream zip = new ZipOutputStream(file)) {
            for (String name : killed.files(Specimen.DIRECTORY)) {
                zip.putNextEntry(new ZipEntry(name));
                zip.write(killed.contents(Specimen.DIRECTORY, name));
            }
        }
        store.close();
    }

    private static void write(KeyValueStore store) {
        Specimen model = Specimen.empty(SEED);
        model.write(store, new SplittableRandom(SEED), 400);
        store.settle();
        StorePolicies.of(store).set(KeyRange.all(), new Heights(0, 0), CompactionPolicyKind.LEVEL_TIERED);
        store.checkpoint();
        model.write(store, new SplittableRandom(SEED + 1), 20);
    }

    private static Specimen expected() {
        Specimen model = Specimen.empty(SEED);
        try (KeyValueStore ignored = SimulatedStoreHost.open(model.machine(), Specimen.options())) {
            model.write(ignored, new SplittableRandom(SEED), 400);
            model.write(ignored, new SplittableRandom(SEED + 1), 20);
        }
        return model;
    }

    private static SimulatedMachine golden(String version, long seed) throws IOException {
        SimulatedMachine machine = new SimulatedMachine(seed);
        try (InputStream resource = GoldenStoreTest.class.getResourceAsStream("/golden/" + version + ".zip");
                ZipInputStream zip = new ZipInputStream(resource)) {
            for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
                machine.place(Specimen.DIRECTORY, entry.getName(), zip.readAllBytes());
            }
        }
        return machine;
    }

    /** On the machine that wrote it, still running, and on another one; afterwards it is of the current format and opens again. */
    @ParameterizedTest
    @CsvSource({"v1, 77", "v1, 78", "v2, 77", "v2, 78", "v3, 77", "v3, 78", "v4, 77", "v4, 78", "v5, 77", "v5, 78", "v6, 77", "v6, 78"})
    void aStoreOfEveryFormatOpens(String version, long seed) throws IOException {
        SimulatedMachine machine = golden(version, seed);
        assertEquals(List.of(), Specimen.problems(machine));
        Specimen expected = expected();
        for (int opened = 0; opened < 2; opened++) {
            try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
                assertTrue(expected.read(store).isWhole());
                assertTrue(store.verify().isClean());
            }
            assertEquals(FormatVersion.CURRENT.number(), format(machine));
        }
    }

    /** Before its first checkpoint, so that it has logs of two formats. */
    @ParameterizedTest
    @CsvSource({"v1", "v2", "v3", "v4", "v5", "v6"})
    void aStoreOfEveryFormatMayBeKilledOnceItIsOpen(String version) throws IOException {
        SimulatedMachine machine = golden(version, SEED);
        Specimen expected = expected();
        SimulatedMachine killed;
        try (KeyValueStore store = SimulatedStoreHost.open(machine, Specimen.options())) {
            expected.write(store, new SplittableRandom(SEED + 2), 20);
            killed = machine.crash(CrashKind.KILL, new SplittableRandom(SEED));
        }
        try (KeyValueStore store = SimulatedStoreHost.open(killed, Specimen.options())) {
            assertTrue(expected.read(store).isWhole());
            assertTrue(store.verify().isClean());
        }
    }

    private static int format(SimulatedMachine machine) {
        byte[] data = machine.contents(Specimen.DIRECTORY, Specimen.DATA);
        return ByteBuffer.wrap(data).order(ByteOrder.LITTLE_ENDIAN).getInt(IMAGE_OFFSET);
    }

    private static Map<String, Integer> files(SimulatedMachine machine) {
        return new TreeMap<>(machine.files(Specimen.DIRECTORY).stream()
                .collect(Collectors.toMap(n -> n, n -> Arrays.hashCode(machine.contents(Specimen.DIRECTORY, n)))));
    }

    private static <T extends StoreException> T refuses(Class<T> type, SimulatedMachine machine, StoreOptions options) {
        Map<String, Integer> before = files(machine);
        T refused = assertThrows(type, () -> SimulatedStoreHost.open(machine, options));
        assertEquals(before, files(machine));
        return refused;
    }

    /** Both superblocks, whole and sealed, of another version. */
    private void setFormat(SimulatedMachine machine, int format) {
        edit(machine, page -> Memory.putInt(page + IMAGE_OFFSET, format));
    }

    /** Changes both superblocks, whose page is at an address meanwhile, and seals them. */
    private void edit(SimulatedMachine machine, LongConsumer change) {
        byte[] bytes = machine.contents(directory, Specimen.DATA);
        try (MemoryPool pool = MemoryPool.open(1 << 20)) {
            long page = pool.allocate(Specimen.PAGE_BYTES);
            for (int number : new int[] {0, 16}) {
                int at = number * Specimen.PAGE_BYTES;
                Memory.copyFrom(bytes, at, page, Specimen.PAGE_BYTES);
                long storeId = Memory.getLong(page + 8);
                long generation = Memory.getLong(page + 24);
                change.accept(page);
                PageSeal.seal(page, PageType.SUPERBLOCK, storeId, number, generation);
                System.arraycopy(Memory.bytes(page, Specimen.PAGE_BYTES), 0, bytes, at, Specimen.PAGE_BYTES);
            }
            pool.free(page, Specimen.PAGE_BYTES);
        }
        machine.place(directory, Specimen.DATA, bytes);
    }

    @Test
    void otherFormatsAreRefused() throws IOException {
        for (OpenMode mode : new OpenMode[] {OpenMode.CREATE_IF_MISSING, OpenMode.OPEN_EXISTING}) {
            StoreOptions options = Specimen.options().toBuilder().openMode(mode).build();
            SimulatedMachine machine = golden("v1", SEED);
            setFormat(machine, FormatVersion.CURRENT.number() + 1);
            refuses(FormatTooNewException.class, machine, options);
            setFormat(machine, Integer.MAX_VALUE);
            refuses(FormatTooNewException.class, machine, options);
            setFormat(machine, 0);
            refuses(FormatTooOldException.class, machine, options);
            setFormat(machine, 1);
            SimulatedStoreHost.open(machine, options).close();
        }
    }

    /** The option was called damage, for which salvage was advised: that makes a copy without it. */
    @Test
    void optionsThatALaterVersionHasAreRefusedAndNoDamage() throws IOException {
        SimulatedMachine machine = golden("v" + FormatVersion.CURRENT.number(), SEED);
        edit(machine, page -> {
            String image = new String(Memory.bytes(page, Specimen.PAGE_BYTES), StandardCharsets.ISO_8859_1);
            Memory.copyFrom("colour".getBytes(StandardCharsets.ISO_8859_1), 0, page + image.indexOf("fanout"), "colour".length());
        });
        FormatTooNewException refused = refuses(FormatTooNewException.class, machine, Specimen.options());
        assertTrue(refused.getMessage().contains("'colour'"), refused.getMessage());
        try (Storage storage = machine.storage(directory)) {
            assertThrows(FormatTooNewException.class, () -> EngineAccess.problems(storage));
        }
    }

    /** Every option that may change between openings does; the one that may not is refused by name. */
    @ParameterizedTest
    @EnumSource(CompactionPolicyKind.class)
    void optionsChangeOrAreRefusedByName(CompactionPolicyKind policy) throws IOException {
        SimulatedMachine machine = golden("v1", SEED);
        Specimen expected = expected();
        for (int fanout : new int[] {4, 15}) {
            for (dev.heartwood.Durability durability : dev.heartwood.Durability.values()) {
                StoreOptions changed = Specimen.options().toBuilder()
                        .fanout(fanout)
                        .policy(policy)
                        .durability(durability)
                        .freeSpace(StoreOptions.FreeSpace.RETURN)
                        .checkpointDistance(fanout)
                        .build();
                try (KeyValueStore store = SimulatedStoreHost.open(machine, changed)) {
                    assertTrue(expected.read(store).isWhole(), changed.toString());
                }
            }
        }
        StoreOptions withOperator =
                Specimen.options().toBuilder().mergeOperator(new TailMergeOperator()).build();
        SimulatedStoreHost.open(machine, withOperator).close();
        refuses(IncompatibleOptionsException.class, machine, Specimen.options());
    }
}
