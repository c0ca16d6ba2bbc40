package dev.heartwood.engine.verify;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.VerifyReport;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.image.TreeWalk;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Stores to verify, and what is where in them. */
public final class StoreFixture {
    public static final int KEYS = 60_000;

    private StoreFixture() {}

    public static StoreOptions options() {
        return StoreOptions.builder()
                .memory(ByteSize.mib(32))
                .memtable(ByteSize.mib(1))
                .ioMode(IoMode.BUFFERED)
                .build();
    }

    /** Writes enough for several levels, with overwritten keys, tombstones, large values and long keys. */
    public static KeyValueStore fill(Path directory, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        KeyValueStore store = Heartwood.open(directory, options());
        for (int i = 0; i < KEYS; i++) {
            String number = "user" + random.nextInt(KEYS);
            byte[] key = (i % 1000 == 7 ? number + "x".repeat(2000) : number).getBytes(StandardCharsets.US_ASCII);
            byte[] value = new byte[i % 300 == 0 ? 12_000 : 300];
            random.nextBytes(value);
            if (i % 20 == 3) {
                store.delete(key);
            } else {
                store.put(key, value);
            }
        }
        return store;
    }

    /** A store that was closed. */
    public static void makeClosed(Path directory, long seed) {
        try (KeyValueStore store = fill(directory, seed)) {
            store.checkpoint();
            store.settle();
            store.checkpoint();
        }
    }

    /** A store as it is when its process is killed: the files as they are while nobody writes. */
    public static void makeKilled(Path scratch, Path directory, long seed) throws IOException {
        try (KeyValueStore store = fill(scratch, seed)) {
            store.settle();
            store.put(new byte[] {1}, new byte[] {2});
            store.put(new byte[] {2}, new byte[] {3});
            copy(scratch, directory);
        }
    }

    public static void copy(Path from, Path to) throws IOException {
        Files.createDirectories(to);
        List<Path> files;
        try (var entries = Files.list(from)) {
            files = entries.toList();
        }
        for (Path file : files) {
            Files.copy(file, to.resolve(file.getFileName()));
        }
    }

    public static Storage storage(Path directory) {
        return new FileStorage(directory, DeviceKind.POSIX, IoMode.BUFFERED);
    }

    public static VerifyReport verify(Path directory) {
        try (Storage storage = storage(directory)) {
            return StoreVerifier.verify(storage, Progress.SILENT);
        }
    }

    /** The pages that the newest checkpoint reaches, by type. */
    public static Map<PageType, List<Long>> pages(Path directory) {
        Map<PageType, List<Long>> pages = new EnumMap<>(PageType.class);
        pages.put(PageType.SUPERBLOCK, List.of(0L, 16L));
        try (Storage storage = storage(directory);
                OpenedStore store = new OpenedStore(storage)) {
            Tree tree = Tree.read(store.view().tree(), store.newest(), problem -> {});
            for (TreeWalk.Node node : tree.nodes()) {
                add(pages, PageType.TRUNK, node.page());
            }
            for (Branch branch : tree.branches()) {
                for (int page = 0; page < branch.leafPages(); page++) {
                    add(pages, PageType.BRANCH_LEAF, branch.devicePage(page));
                }
                for (int page = branch.shape().firstIndexPage(); page < branch.pageCount(); page++) {
                    if (branch.levels() > 0) {
                        add(pages, PageType.BRANCH_INDEX, branch.devicePage(page));
                    }
                }
            }
            for (OverflowGroup group : tree.groups()) {
                for (int page = 0; page < group.pageCount(); page++) {
                    add(pages, PageType.OVERFLOW, filePage(group.extents()[page >>> 5], page));
                }
            }
            for (Maplet maplet : tree.maplets()) {
                for (int page = 0; page < maplet.pages(); page++) {
                    add(pages, PageType.FILTER, filePage(maplet.extent(page >>> 5), page));
                }
            }
        }
        return pages;
    }

    private static long filePage(int extent, int page) {
        return ((long) extent << PageLayout.EXTENT_SHIFT) + (page & PageLayout.EXTENT_PAGES - 1);
    }

    private static void add(Map<PageType, List<Long>> pages, PageType type, long page) {
        pages.computeIfAbsent(type, t -> new ArrayList<>()).add(page);
    }
}
