package dev.heartwood.cost;

import dev.heartwood.ByteSize;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A process of its own, so that its memory can be measured: many stores of one environment, written to in turn. */
final class ManyStores {
    static final int STORES = 200;
    static final ByteSize MEMORY = ByteSize.mib(256);
    private static final int RECORDS_EACH = 6_000;

    private ManyStores() {}

    /** Prints the most memory that was resident, in bytes. Argument: the directory. */
    public static void main(String[] args) throws IOException {
        Path directory = Path.of(args[0]);
        EnvironmentOptions options =
                EnvironmentOptions.builder().memory(MEMORY).build();
        try (Environment environment = Heartwood.openEnvironment(options)) {
            List<KeyValueStore> stores = open(environment, directory);
            for (int i = 0; i < RECORDS_EACH; i++) {
                for (int s = 0; s < STORES; s++) {
                    stores.get(s).put(Load.key(i), Load.value(i + s));
                }
            }
            check(stores);
            stores.forEach(KeyValueStore::close);
            System.out.println(residentBytesMax());
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

    private static long residentBytesMax() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IOException("no VmHWM in /proc/self/status");
    }
}
