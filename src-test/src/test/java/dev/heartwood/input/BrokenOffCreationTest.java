package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.ByteSize;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.OpenMode;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.Errno;
import dev.heartwood.testkit.FaultPlan.Duration;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import dev.heartwood.testkit.SimulatedStoreHost;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is left of a store that was not made to the end is made anew by the next open; what somebody has put there since is not: a store that was copied
 * to where a creation had failed was deleted.
 */
class BrokenOffCreationTest {
    /** Of each step, how what was not synced may have ended. */
    private static final int FATES = 3;

    private static final int LOOKED_AT = Boolean.getBoolean("heartwood.thorough") ? 1 : FATES;

    private static final Path SIMULATED = SimulatedStoreHost.DIRECTORY;
    private static final byte[] KEY = {1};

    private final TestDirectory parent = new TestDirectory("creation");
    private final StoreOptions options =
            StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).memtable(ByteSize.kib(64)).build();

    @AfterEach
    void remove() {
        parent.close();
    }

    /** What a creation leaves that finds no space: the name of a file that says so, and an empty data file. */
    private static Map<String, byte[]> leftOnAFullDisk() {
        SimulatedMachine machine = new SimulatedMachine(1);
        machine.capacity(4096);
        assertThrows(NoSpaceException.class, () -> SimulatedStoreHost.open(machine, OptionMatrix.smallTree()));
        Map<String, byte[]> left = new TreeMap<>();
        machine.files(SIMULATED).forEach(name -> left.put(name, machine.contents(SIMULATED, name)));
        assertTrue(left.containsKey("creating"), () -> "left: " + left.keySet());
        return left;
    }

    private Path newStore(int records) {
        Path made = parent.path().resolve("made");
        try (KeyValueStore store = Heartwood.open(made, options)) {
            for (int i = 0; i < records; i++) {
                store.put(new byte[] {(byte) i, (byte) (i >> 8)}, new byte[500]);
            }
        }
        return made;
    }

    private static Map<String, String> files(Path directory) throws IOException {
        Map<String, String> contents = new TreeMap<>();
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : files.filter(file -> !file.endsWith("LOCK")).toList()) {
                contents.put(file.getFileName().toString(), HexFormat.of().formatHex(Files.readAllBytes(file)));
            }
        }
        return contents;
    }

    /** Another directory, with files in it. */
    private Path newTarget(Map<String, byte[]> left) throws IOException {
        Path target = Files.createTempDirectory(parent.path(), "target");
        for (Map.Entry<String, byte[]> file : left.entrySet()) {
            Files.write(target.resolve(file.getKey()), file.getValue());
        }
        return target;
    }

    private static void copy(Path from, Path to, List<String> names) throws IOException {
        for (String name : names) {
            Files.copy(from.resolve(name), to.resolve(name), StandardCopyOption.REPLACE_EXISTING);
        }
    }

    /** All of a store's files, and its data file alone; of one whose data file is as long as one that was just made, too. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1000})
    void aStoreThatWasCopiedThereIsLeftAlone(int records) throws IOException {
        Path made = newStore(records);
        for (boolean all : new boolean[] {false, true}) {
            Path target = newTarget(leftOnAFullDisk());
            List<String> names = new ArrayList<>(List.of("data.hw"));
            if (all) {
                names.addAll(files(made).keySet());
            }
            copy(made, target, names);
            Map<String, String> before = files(target);
            NotAStoreException refused = assertThrows(NotAStoreException.class, () -> Heartwood.open(target, options));
            assertTrue(refused.getMessage().contains("creating"), refused.getMessage());
            assertEquals(before, files(target));
            Files.delete(target.resolve("creating"));
            try (KeyValueStore store = Heartwood.open(target, options)) {
                assertEquals(records > 0, store.contains(new byte[] {7, 0}));
            }
        }
    }

    /** Versions before did not say which store they were making. */
    @Test
    void whatIsLeftIsMadeAnew() throws IOException {
        for (byte[] creating : new byte[][] {leftOnAFullDisk().get("creating"), {1}, {}}) {
            for (int length : new int[] {0, 4096, 128 << 10}) {
                Path target = newTarget(Map.of("creating", creating, "data.hw", new byte[length]));
                try (KeyValueStore store = Heartwood.open(target, options)) {
                    store.put(KEY, KEY);
                }
                assertFalse(Files.exists(target.resolve("creating")));
                }
        }
    }

    @Test
    void aCreationThatMadeNothingLeavesNothing() {
        SimulatedMachine machine = new SimulatedMachine(1);
        machine.faults().fail(OperationKind.CREATE, 1, Errno.EIO, Duration.ONCE);
        assertThrows(StoreException.class, () -> SimulatedStoreHost.open(machine, OptionMatrix.smallTree()));
        assertFalse(machine.files(SIMULATED).contains("creating"), machine.files(SIMULATED)::toString);
        assertFalse(machine.files(SIMULATED).contains("data.hw"), machine.files(SIMULATED)::toString);
    }

    /** It was told as a file that exists already, and what the next open found was made anew, whatever the link pointed to by then. */
    @Test
    void aLinkToNothingIsNoStore() throws IOException {
        Path target = newTarget(Map.of());
        Files.createSymbolicLink(target.resolve("data.hw"), parent.path().resolve("missing"));
        for (OpenMode mode : OpenMode.values()) {
            StoreOptions with = options.toBuilder().openMode(mode).build();
            NotAStoreException refused = assertThrows(NotAStoreException.class, () -> Heartwood.open(target, with));
            assertTrue(refused.getMessage().contains("link"), refused.getMessage());
        }
        try (Stream<Path> files = Files.list(target)) {
            assertEquals(List.of(target.resolve("data.hw")), files.toList());
        }
    }

    /**
     * Power is lost at each step of a creation, and at each step of the next, with what was not synced gone, there, or garbage; of the machines
     * that this makes every third is looked at in a build, so that each step of either meets each fate.
     */
    @Test
    void aCreationThatIsBrokenOffTwiceIsMadeAnew() {
        List<SimulatedMachine> once = brokenOff(new SimulatedMachine(1));
        int twice = 0;
        for (int first = 0; first < once.size(); first++) {
            List<SimulatedMachine> again = brokenOff(once.get(first));
            for (int second = first / FATES % LOOKED_AT; second < again.size(); second += LOOKED_AT) {
                try (KeyValueStore store = SimulatedStoreHost.open(again.get(second), OptionMatrix.smallTree())) {
                    store.put(KEY, KEY);
                    assertArrayEquals(KEY, store.get(KEY));
                }
                twice++;
            }
        }
        assertTrue(once.size() > 20 && twice > 400 / LOOKED_AT, once.size() + " and " + twice + " machines");
    }

    private static List<SimulatedMachine> brokenOff(SimulatedMachine machine) {
        List<SimulatedMachine> images = new ArrayList<>();
        machine.faults().listen((kind, ordinal, path) -> {
            if (machine.files(SIMULATED).contains("session")) {
                return;
            }
            BitSet all = new BitSet();
            all.set(0, machine.undecided());
            images.add(machine.powerLoss(new BitSet(), all));
            images.add(machine.powerLoss(all, new BitSet()));
            images.add(machine.crash(CrashKind.KILL, new SplittableRandom(1)));
        });
        SimulatedStoreHost.open(machine, OptionMatrix.smallTree()).close();
        machine.faults().listen(null);
        return images;
    }
}
