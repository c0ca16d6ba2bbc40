package dev.heartwood.engine.inspect;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.checkpoint.SessionMark;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.image.TreeWalk.Node;
import dev.heartwood.engine.log.LogInspection;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.engine.verify.Tree;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Describes a store that is not open, from its superblock, the mark of its session, node images and log; reads no data. One thread. */
final class StoreDescription {
    private final OpenedStore store;
    private final PrintStream out;
    private final List<String> problems = new ArrayList<>();

    private StoreDescription(OpenedStore store, PrintStream out) {
        this.store = store;
        this.out = out;
    }

    /** Prints the description; returns what was found damaged, one line each. Throws as verification does. */
    static List<String> print(Storage storage, PrintStream out) {
        try (OpenedStore store = new OpenedStore(storage)) {
            return new StoreDescription(store, out).print();
        }
    }

    private List<String> print() {
        Superblock superblock = store.newest();
        for (Superblocks.Copy copy : store.view().copies()) {
            if (copy.damage() != null) {
                problems.add("superblock: " + copy.damage().getMessage());
            }
        }
        if (superblock == null) {
            section("Store", new Table()
                    .row("directory", store.files().directory())
                    .row("data file", Table.bytes(store.device().size())));
            return problems;
        }
        checkSessionMark(superblock);
        printStore(superblock);
        section("Options", options(superblock));
        Tree tree = Tree.read(store.view().tree(), superblock, problems::add);
        section("Tree", LevelTable.of(tree, policyOf(superblock)));
        printBranches(tree);
        printFilters(tree);
        printSpace(tree);
        printLog(superblock);
        return problems;
    }

    private void checkSessionMark(Superblock superblock) {
        try {
            SessionMark.check(store.files(), superblock);
        } catch (InsufficientMemoryException e) {
            throw e; // which says nothing of the mark
        } catch (StoreException e) {
            problems.add(e.getMessage());
        }
    }

    private void section(String title, Table table) {
        out.println(title);
        out.println(table);
    }

    private void printStore(Superblock superblock) {
        section("Store", new Table()
                .row("directory", store.files().directory())
                .row("identity", String.format("%016x", superblock.storeId()))
                .row("format", superblock.format())
                .row("checkpoint", superblock.number())
                .row("memtable generation", superblock.generation())
                .row("sequence", superblock.sequence())
                .row("next id", superblock.nextId()));
    }

    private static Table options(Superblock superblock) {
        Table table = new Table();
        for (Map.Entry<String, String> option :
                StoreOptions.parse(superblock.options()).toMap().entrySet()) {
            table.row(option.getKey(), option.getValue().isEmpty() ? "-" : option.getValue());
        }
        return table;
    }

    /** The policy of nodes that have none of their own. */
    private static TrunkPolicies policyOf(Superblock superblock) {
        return TrunkPolicies.of(StoreOptions.parse(superblock.options()).policy());
    }

    private void printBranches(Tree tree) {
        long entries = sum(tree.branches().stream().mapToLong(Branch::entries).toArray());
        long tombstones = sum(tree.branches().stream().mapToLong(Branch::tombstones).toArray());
        long dataBytes = sum(tree.branches().stream().mapToLong(Branch::dataBytes).toArray());
        long pages = sum(tree.branches().stream().mapToLong(Branch::pageCount).toArray());
        long leaves = sum(tree.branches().stream().mapToLong(Branch::leafPages).toArray());
        section("Branches", new Table()
                .row("branches", tree.branches().size())
                .row("entries", entries)
                .row("tombstones", tombstones)
                .row("keys and values", Table.bytes(dataBytes))
                .row("leaf pages", leaves)
                .row("index pages", pages - leaves)
                .row("overflow groups", tree.groups().size())
                .row("overflow bytes", Table.bytes(sum(
                        tree.groups().stream().mapToLong(OverflowGroup::bytes).toArray()))));
    }

    private void printFilters(Tree tree) {
        long entries = sum(tree.maplets().stream().mapToLong(Maplet::entries).toArray());
        long bytes = sum(tree.maplets().stream().mapToLong(Maplet::bytes).toArray());
        long duplicates = sum(tree.maplets().stream().mapToLong(Maplet::duplicateEntries).toArray());
        section("Filters", new Table()
                .row("maplets", tree.maplets().size())
                .row("keys", entries)
                .row("of them superseded, about", duplicates)
                .row("bytes", Table.bytes(bytes))
                .row("bits per key", Table.ratio(8.0 * bytes, entries)));
    }

    private void printSpace(Tree tree) {
        long used = tree.extents().used() * PageLayout.EXTENT_BYTES;
        long entries = tree.nodes().stream().mapToLong(Node::activeBytes).sum();
        section("Space", new Table()
                .row("data file", Table.bytes(store.device().size()))
                .row("used", Table.bytes(used))
                .row("free", Table.bytes(tree.extents().free() * PageLayout.EXTENT_BYTES))
                .row("entries, superseded ones too, about", Table.bytes(entries))
                .row("used to entries", Table.ratio(used, entries))
                .row("file to entries", Table.ratio(store.device().size(), entries)));
    }

    private void printLog(Superblock superblock) {
        LogInspection log = LogInspection.of(store.files(), superblock.storeId(), superblock.generation());
        log.problems().forEach(problem -> problems.add("log: " + problem));
        Table table = new Table().row("file", "bytes", "state", "generation", "lane");
        for (LogInspection.SegmentFile file : log.files()) {
            boolean isLive = file.state() == LogInspection.State.LIVE;
            table.row(
                    file.name(),
                    Table.bytes(file.bytes()),
                    file.state().name().toLowerCase(java.util.Locale.ROOT),
                    isLive ? file.generation() : "-",
                    isLive ? file.lane() : "-");
        }
        section("Log", table);
        if (log.replay() != null) {
            section("To replay at the next open", new Table()
                    .row("records", log.replay().records())
                    .row("entries", log.replay().entries())
                    .row("records cut off", log.replay().lostRecords()));
        }
    }

    private static long sum(long[] numbers) {
        long sum = 0;
        for (long number : numbers) {
            sum += number;
        }
        return sum;
    }
}
