package dev.heartwood.crash;

import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.nio.file.Path;
import java.util.Arrays;

/** Two stores, one after the other, on whatever device the process may use. */
final class AutomaticDevice {
    static final String DONE = "both stores have what was written";

    private AutomaticDevice() {}

    /** Argument: the directory. */
    public static void main(String[] args) {
        StoreOptions options =
                StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        byte[] key = {1};
        byte[] value = {2};
        for (String name : new String[] {"a", "b"}) {
            Path directory = Path.of(args[0]).resolve(name);
            try (KeyValueStore store = Heartwood.open(directory, options)) {
                store.put(key, value);
                store.checkpoint();
            }
            try (KeyValueStore store = Heartwood.open(directory, options)) {
                if (!Arrays.equals(value, store.get(key))) {
                    throw new AssertionError("store " + name);
                }
            }
        }
        System.out.println(DONE);
    }
}
