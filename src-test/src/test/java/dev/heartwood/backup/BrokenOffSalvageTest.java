package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.KeyValueStore;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.UnsuitableTargetException;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.testkit.Campaign;
import dev.heartwood.testkit.CrashKind;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.OperationKind;
import dev.heartwood.testkit.SimulatedMachine;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What a salvage leaves that was killed, or met a loss of power, at each of its operations. */
class BrokenOffSalvageTest {
    private static final Path OTHER = Path.of("simulated", "other");

    private final NavigableMap<byte[], byte[]> model = BackupFixture.newMap();

    private static void salvage(SimulatedMachine machine) {
        try (Storage from = machine.storage(STORE)) {
            EngineAccess.salvage(from, TARGET, machine, line -> {});
        }
    }

    private List<SimulatedMachine> images(CrashKind kind) {
        SimulatedMachine machine = new SimulatedMachine(1);
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(1), 700);
        }
        List<SimulatedMachine> images = new ArrayList<>();
        SplittableRandom fate = new SplittableRandom(2);
        machine.faults().listen((operation, number, path) -> {
            if (operation != OperationKind.READ && path.contains(TARGET.getFileName().toString())) {
                images.add(machine.crash(kind, fate.split()));
            }
        });
        salvage(machine);
        machine.faults().listen(null);
        images.add(machine.crash(kind, fate.split()));
        return images;
    }

    /** One that was killed right after the store had been made left an empty one. */
    @ParameterizedTest
    @EnumSource(CrashKind.class)
    void itIsRefusedFromItsFirstFileOnUntilItIsWhole(CrashKind kind) {
        int refused = 0;
        int whole = 0;
        for (SimulatedMachine image : images(kind)) {
            Map<String, Integer> before = BackupFixture.files(image, TARGET);
            if (before.isEmpty()) {
                continue;
            }
            String what = before.keySet().toString();
            if (before.containsKey("copy-unfinished")) {
                requireRefused(image, what);
                assertEquals(before, BackupFixture.files(image, TARGET), what);
                refused++;
            } else {
                BackupFixture.requireContents(image, TARGET, model, what);
                whole++;
            }
        }
        Campaign.report(getClass(), refused + whole, "images of a salvage, of which " + whole + " were whole");
        assertTrue(refused > 20 && whole > 0, refused + " refused, " + whole + " whole");
    }

    private static void requireRefused(SimulatedMachine image, String what) {
        for (StoreException refusal : List.of(
                assertThrows(NotAStoreException.class, () -> BackupFixture.open(image, TARGET), what),
                assertThrows(NotAStoreException.class, () -> BackupFixture.openExisting(image, TARGET), what),
                assertThrows(NotAStoreException.class, () -> salvage(image), what))) {
            assertTrue(refusal.getMessage().contains("a salvage to it was never finished"), refusal.getMessage());
        }
        try (KeyValueStore other = BackupFixture.open(image, OTHER)) {
            UnsuitableTargetException refusal =
                    assertThrows(UnsuitableTargetException.class, () -> other.backup(TARGET), what);
            assertTrue(refusal.getMessage().contains("a salvage to it was never finished"), refusal.getMessage());
        }
    }
}
