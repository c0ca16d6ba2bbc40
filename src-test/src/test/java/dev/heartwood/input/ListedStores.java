package dev.heartwood.input;

import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Opens a store in every directory of one, as they are listed, and makes a backup to each from a store elsewhere; prints how many were refused. */
final class ListedStores {
    private static final StoreOptions OPTIONS = StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
    private static final byte[] KEY = {1};

    private ListedStores() {}

    public static void main(String[] arguments) throws IOException {
        List<Path> listed;
        try (Stream<Path> paths = Files.list(Path.of(arguments[0]))) {
            listed = paths.toList();
        }
        int opens = 0;
        int backups = 0;
        try (KeyValueStore elsewhere = Heartwood.open(Path.of(arguments[1]), OPTIONS)) {
            for (Path directory : listed) {
                opens += refused(() -> open(directory));
                backups += refused(() -> elsewhere.backup(directory.resolve("backup")));
            }
        }
        System.out.println(listed.size() + " listed, " + opens + " opens and " + backups + " backups refused");
    }

    private static void open(Path directory) {
        try (KeyValueStore store = Heartwood.open(directory.resolve("store"), OPTIONS)) {
            store.put(KEY, KEY);
        }
    }

    private static int refused(Runnable call) {
        try {
            call.run();
            return 0;
        } catch (IllegalArgumentException e) {
            return 1;
        }
    }
}
