package consumer;

import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/** Puts a value, gets it back after reopening, prints it. */
public final class Main {
    private Main() {}

    public static void main(String[] args) {
        StoreOptions options = StoreOptions.builder().set("memory", "16m").build();
        byte[] key = "greeting".getBytes(StandardCharsets.UTF_8);
        try (KeyValueStore store = Heartwood.open(Path.of(args[0]), options)) {
            store.put(key, "hello from the store".getBytes(StandardCharsets.UTF_8));
        }
        try (KeyValueStore store = Heartwood.open(Path.of(args[0]), options)) {
            System.out.println(new String(store.get(key), StandardCharsets.UTF_8));
        }
    }
}
