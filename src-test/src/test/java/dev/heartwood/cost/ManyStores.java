package dev.heartwood.cost;

import dev.heartwood.ByteSize;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import javax.management.JMException;

/** A process of its own, so that its memory can be measured: many stores of one environment, written to in turn. */
final class ManyStores {
    static final int STORES = 200;
    static final ByteSize MEMORY = ByteSize.mib(256);
    private static final int RECORDS_EACH = 12_000;
    private static final int LOOK_EVERY = 400;

    private ManyStores() {}

    /**
     * Prints in bytes the most memory that was resident, and of the moment when the JVM accounted for least of it what was resident,
     * the heap and the rest of the JVM. Argument: the directory.
     */
    public static void main(String[] args) throws IOException, JMException {
        Path directory = Path.of(args[0]);
        EnvironmentOptions options =
                EnvironmentOptions.builder().memory(MEMORY).build();
        try (Environment environment = Heartwood.openEnvironment(options)) {
            List<KeyValueStore> stores = open(environment, directory);
            ResidentMemory fullest = ResidentMemory.now();
            for (int i = 0; i < RECORDS_EACH; i++) {
                for (int s = 0; s < STORES; s++) {
                    stores.get(s).put(Load.key(i), Load.value(i + s));
                }
                if (i % LOOK_EVERY == 0) {
                    fullest = fuller(fullest, ResidentMemory.now());
                }
            }
            check(stores);
            fullest = fuller(fullest, ResidentMemory.now());
            stores.forEach(KeyValueStore::close);
            System.out.println(ResidentMemory.most() + " " + fullest.residentBytes() + " " + fullest.heapBytes() + " "
                    + fullest.jvmBytes());
            List<KeyValueStore> again = open(environment, directory);
            check(again);
            again.forEach(KeyValueStore::close);
        }
    }

    private static List<KeyValueStore> open(Environment environment, Path directory) {
        List<KeyValueStore> stores = new ArrayList<>();
        for (int s = 0; s < STORES; s++) {
            stores.add(environment.open(
                    directory.resolve("store" + s), StoreOptions.builder().build()));
        }
        return stores;
    }

    private static void check(List<KeyValueStore> stores) {
        for (int s = 0; s < STORES; s++) {
            for (int i = s % 7; i < RECORDS_EACH; i += 7) {
                byte[] found = stores.get(s).get(Load.key(i));
                if (!java.util.Arrays.equals(Load.value(i + s), found)) {
                    throw new AssertionError("store " + s + " has lost or changed record " + i);
                }
            }
        }
    }

    private static ResidentMemory fuller(ResidentMemory a, ResidentMemory b) {
        return a.engineBytes() >= b.engineBytes() ? a : b;
    }
}
