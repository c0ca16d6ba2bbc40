package dev.heartwood.backup;

import static dev.heartwood.backup.BackupFixture.DATA;
import static dev.heartwood.backup.BackupFixture.PAGE_BYTES;
import static dev.heartwood.backup.BackupFixture.STORE;
import static dev.heartwood.backup.BackupFixture.TARGET;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.salvage.Salvage;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.verify.Progress;
import dev.heartwood.testkit.EngineAccess;
import dev.heartwood.testkit.History;
import dev.heartwood.testkit.OptionMatrix;
import dev.heartwood.testkit.SimulatedMachine;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.SplittableRandom;
import java.util.function.Function;

/** Salvage of the store of {@link BackupFixture}, and what it finds there. */
final class SalvageFixture {
    private SalvageFixture() {}

    /** Copies what can be read to the target; {@code lost} takes what cannot. */
    static SalvageReport salvage(SimulatedMachine machine, List<String> lost) {
        try (Storage from = machine.storage(STORE)) {
            return EngineAccess.salvage(from, TARGET, machine, lost::add);
        }
    }

    /** What a call of the copy is to throw before it is made, if anything. */
    interface Refusal {
        void before(String method, Object[] arguments);
    }

    /** As {@link #salvage}, to a copy that refuses calls. */
    static SalvageReport salvage(SimulatedMachine machine, List<String> lost, Refusal refusal) {
        try (Storage from = machine.storage(STORE);
                Storage to = machine.storage(TARGET);
                EngineEnvironment environment = EngineEnvironment.open(OptionMatrix.environment(BackupFixture.options()), machine)) {
            Function<StoreOptions, KeyValueStore> opening = options -> {
                KeyValueStore copy = environment.openForSalvage(TARGET, options);
                return (KeyValueStore) Proxy.newProxyInstance(
                        KeyValueStore.class.getClassLoader(), new Class<?>[] {KeyValueStore.class}, (proxy, method, arguments) -> {
                            refusal.before(method.getName(), arguments);
                            return method.invoke(copy, arguments);
                        });
            };
            return Salvage.run(from, to, opening, lost::add, Progress.SILENT);
        }
    }

    /** Every key written has a generation in its value: the round in which it was written last. */
    static SimulatedMachine store(NavigableMap<byte[], byte[]> model, long seed) {
        SimulatedMachine machine = new SimulatedMachine(seed);
        try (KeyValueStore store = BackupFixture.open(machine, STORE)) {
            BackupFixture.write(store, model, new SplittableRandom(seed), 5000);
            store.settle();
            BackupFixture.write(store, model, new SplittableRandom(seed + 1), 300);
        }
        return machine;
    }

    /** Those that say they are of a type. */
    static List<Long> pages(SimulatedMachine machine, PageType type) {
        byte[] bytes = machine.contents(STORE, DATA);
        List<Long> pages = new ArrayList<>();
        for (int page = 0; page < bytes.length / PAGE_BYTES; page++) {
            if (bytes[page * PAGE_BYTES + 4] == type.code()) {
                pages.add((long) page);
            }
        }
        return pages;
    }

    /** The files of the store, with a hash of each one's contents. */
    static Map<String, Integer> files(SimulatedMachine machine) {
        return BackupFixture.files(machine, STORE);
    }

    /** Of the copy, which has to be sound. */
    static Map<byte[], byte[]> contents(SimulatedMachine machine) {
        try (KeyValueStore copy = BackupFixture.openExisting(machine, TARGET)) {
            assertTrue(copy.verify().isClean());
            return History.contents(copy);
        }
    }

    /** Damages both superblocks. */
    static void behead(SimulatedMachine machine) {
        machine.flip(STORE, DATA, 50, 1);
        machine.flip(STORE, DATA, 16 * PAGE_BYTES + 50, 1);
        assertThrows(CorruptionException.class, () -> BackupFixture.openExisting(machine, STORE));
    }

    /** What a page says. */
    static long generation(byte[] bytes, long page) {
        return ByteBuffer.wrap(bytes)
                .order(ByteOrder.LITTLE_ENDIAN)
                .getLong((int) page * PAGE_BYTES + 24);
    }

    /** Where bytes are first; -1 where they are not. */
    static int indexOf(byte[] bytes, byte[] wanted) {
        for (int i = 0; i <= bytes.length - wanted.length; i++) {
            if (Arrays.equals(bytes, i, i + wanted.length, wanted, 0, wanted.length)) {
                return i;
            }
        }
        return -1;
    }
}
