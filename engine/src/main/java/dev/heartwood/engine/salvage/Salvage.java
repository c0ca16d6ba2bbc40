package dev.heartwood.engine.salvage;

import dev.heartwood.ByteSize;
import dev.heartwood.CorruptionException;
import dev.heartwood.Durability;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyValueStore;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.StoreOptions.OpenMode;
import dev.heartwood.TooLargeException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.call.KeyForm;
import dev.heartwood.engine.checkpoint.FormatVersion;
import dev.heartwood.engine.checkpoint.SessionMark;
import dev.heartwood.engine.checkpoint.StoreFiles;
import dev.heartwood.engine.checkpoint.Superblock;
import dev.heartwood.engine.checkpoint.Superblocks;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.image.RootSearch;
import dev.heartwood.engine.log.LogSalvage;
import dev.heartwood.engine.log.ReplaySink;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageType;
import dev.heartwood.engine.salvage.SuspectKeys.State;
import dev.heartwood.engine.verify.OpenedStore;
import dev.heartwood.engine.verify.Progress;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/** Copies every readable record of a damaged store into a new one, and says what was lost. Used once, by one thread. */
public final class Salvage implements TreeSalvage.Sink, ReplaySink {
    private final Consumer<String> listing;
    private KeyValueStore target;
    private StandInOperator operator;
    private KeyForm form;
    /** What the tree had, which the log is applied to. */
    private TreeSalvage copied;
    /** What the log is compared with; null when the checkpoint is known, behind which that begins. */
    private FoundBeforeLog before;
    private long logEntries;
    private long losses;
    private long lossesOfAnyKey;
    /** Whether the name of the merge operator is known, without which operands cannot be written. */
    private boolean keepsOperands;

    private Salvage(Consumer<String> listing) {
        this.listing = listing;
    }

    /**
     * Copies a store. Takes its lock and writes nothing else there. The copy has the options of the store without its limit of size, and
     * goes through the operating system's cache where its file system refuses O_DIRECT.
     *
     * @param from the damaged store's files
     * @param to the files of the directory for the copy, which must be empty
     * @param opening makes the store in that directory, and nothing where it refuses to make its data file, by {@link dev.heartwood.engine.store.EngineEnvironment#openForSalvage}
     * @param listing is given what was lost, one line each
     * @throws dev.heartwood.CorruptionException when neither copy of the superblock is whole and no root of a tree is found; also when the
     *     copy is damaged, as its verification finds, and then it is refused by every open
     * @throws StoreException when the copy cannot be written; it is then refused by every open, unless the device refuses the mark that says so
     */
    public static SalvageReport run(
            Storage from,
            Storage to,
            Function<StoreOptions, KeyValueStore> opening,
            Consumer<String> listing,
            Progress progress) {
        try (OpenedStore damaged = new OpenedStore(from)) {
            return new Salvage(listing).copy(damaged, to, opening, progress);
        }
    }

    private SalvageReport copy(
            OpenedStore damaged, Storage to, Function<StoreOptions, KeyValueStore> opening, Progress progress) {
        Superblock known = newest(damaged);
        Superblock superblock = known == null ? search(damaged) : known;
        StoreOptions stored = StoreOptions.parse(superblock.options());
        operator = new StandInOperator();
        StoreOptions options = options(stored);
        form = KeyForm.of(options.keyOrder());
        SalvageReport report = null;
        try (KeyValueStore opened = open(opening, options, to)) {
            target = opened;
            SalvageReport filled = fill(damaged, superblock, known, to, progress);
            // By now it is whole and durable, and locked: closing it adds nothing that was copied.
            StoreFiles.endSalvage(to);
            report = filled;
        } catch (StoreException | OutOfMemoryError e) {
            if (report == null) {
                throw e;
            }
            report = report.unclosed(e);
        }
        return report;
    }

    private SalvageReport fill(
            OpenedStore damaged, Superblock superblock, Superblock known, Storage to, Progress progress) {
        keepsOperands = known != null;
        if (!StoreFiles.isSalvageBegun(to)) {
            throw new IllegalArgumentException("a copy that could be taken for a store before it is whole");
        }
        DamagedTree tree = read(damaged, superblock);
        LogKeys logKeys = new LogKeys();
        readLog(damaged, known, superblock.storeId(), logKeys, found -> {});
        before = known == null ? new FoundBeforeLog(logKeys) : null;
        try (TreeSalvage salvage = new TreeSalvage(tree, logKeys, this, this::lose, progress)) {
            copied = salvage;
            salvage.run();
            readLog(damaged, known, superblock.storeId(), this, this::loseOfAnyKey);
            target.checkpoint();
            requireSound(to);
            return new SalvageReport(salvage.records(), logEntries, salvage.suspects(), losses, lossesOfAnyKey, null);
        }
    }

    /** The file system of the copy may be unable to bypass the page cache, as that of the source could. */
    private static KeyValueStore open(Function<StoreOptions, KeyValueStore> opening, StoreOptions options, Storage to) {
        try {
            return opening.apply(options);
        } catch (StoreIoException e) {
            boolean isRefused = options.ioMode() == IoMode.DIRECT && StoreFiles.isDirectRefused(e, to);
            if (!isRefused || StoreFiles.isSalvageBegun(to)) {
                throw e;
            }
            return opening.apply(options.toBuilder().ioMode(IoMode.BUFFERED).build());
        }
    }

    /** The tree of a checkpoint; for the keys of nodes that cannot be read, that of the newest before it all of whose nodes can be. */
    private DamagedTree read(OpenedStore damaged, Superblock superblock) {
        TreeStorage storage = damaged.view().tree();
        long generation = superblock.rootGeneration();
        DamagedTree tree = DamagedTree.read(storage, new RootSearch.Root(superblock.rootPages(), generation), this::lose);
        if (tree.lostSpans().isEmpty()) {
            return tree;
        }
        String nodes = "checkpoint " + superblock.number() + ": what its tree has in nodes that cannot be read";
        RootSearch search = new RootSearch(damaged.device(), damaged.pool());
        RootSearch.Root older = search.newest(storage, generation);
        if (older == null) {
            lose(nodes + "; no root of a checkpoint before it was found below which every node can be read, so that of their keys "
                    + "there is what other nodes have, and the log");
            return tree;
        }
        tree.goOnWith(DamagedTree.read(damaged.viewBeside().tree(), older, this::lose));
        lose(nodes + "; went on there from the newest root before it that was found, of generation " + older.generation()
                + passedOver(search) + ". What was written there between the two is lost, and what was deleted may be back; what the log has begins after "
                + "checkpoint " + superblock.number() + " and is applied");
        return tree;
    }

    private static void readLog(
            OpenedStore damaged, Superblock known, long storeId, ReplaySink sink, Consumer<String> lost) {
        if (known != null) {
            LogSalvage.run(damaged.files(), storeId, known.generation(), sink, lost);
        } else {
            LogSalvage.runWithoutCheckpoint(damaged.files(), storeId, sink, lost);
        }
    }

    /**
     * The newest copy of the superblock that is whole and of the store that the session's mark names, or the newest whole one where none is; null
     * when neither is whole. What the mark says that it does not have is listed.
     */
    private Superblock newest(OpenedStore damaged) {
        SessionMark.Mark mark = mark(damaged.files());
        Superblock newest = damaged.newest();
        if (mark == null || newest == null) {
            return newest;
        }
        Superblock own = Superblocks.newest(damaged.view().copies(), mark.storeId());
        if (own != null && own != newest) {
            damaged.show(own);
            newest = own;
        }
        if (!mark.allows(newest)) {
            loseOfAnyKey("what was written after checkpoint " + newest.number() + " of store " + newest.storeId() + ": the file "
                    + SessionMark.NAME + " says that the data file was of store " + mark.storeId() + " at checkpoint " + mark.number()
                    + " or later. But for what the log has, any key may be older than it should be, or deleted");
        }
        return newest;
    }

    /** What the superblocks would say of the tree, as far as its pages tell; the store is shown as of there. */
    private Superblock search(OpenedStore damaged) {
        StoreException damage = damaged.view().copies()[0].damage();
        RootSearch search = new RootSearch(damaged.device(), damaged.pool());
        SessionMark.Mark mark = mark(damaged.files());
        long storeId = mark == null ? search.storeId() : mark.storeId();
        KeyOrder order = mark == null ? KeyOrder.SORTED : mark.order();
        damaged.show(stand(storeId, new RootSearch.Root(new long[0], 0), order));
        RootSearch.Root root = search.newest(damaged.view().tree(), Long.MAX_VALUE);
        if (root == null) {
            throw damage instanceof CorruptionException ? damage : unreadable(damage, damaged.device().name());
        }
        String least = mark == null
                ? ", taken to be of a store whose keys are sorted"
                : ", of a store that has had checkpoint " + mark.number();
        lose("both superblocks: " + damage.getMessage() + "; went on from the newest root that was found, of generation "
                + root.generation() + passedOver(search) + least + ". Its options are not known, and not how much of "
                + "the log it holds: where that says something else of a key, it is taken, and the key counts as suspect");
        return stand(storeId, root, order);
    }

    private static String passedOver(RootSearch search) {
        return search.passedOver() == 0
                ? ""
                : " (but for one of generation " + search.passedOver() + ", which has fewer levels or ends at a lesser key, and is taken for a "
                        + "part of what was never completed; if it was complete, what was written between the two is lost, and what was "
                        + "deleted may be back)";
    }

    /** Superblocks that cannot be read are damaged as those that make no sense are. */
    private static CorruptionException unreadable(StoreException failure, String file) {
        return new CorruptionException(file, 0, PageType.SUPERBLOCK.name(), "a superblock", failure.getMessage());
    }

    private static SessionMark.Mark mark(Storage files) {
        try {
            return SessionMark.read(files);
        } catch (CorruptionException | ReadFailedException unknown) {
            return null;
        }
    }

    private static Superblock stand(long storeId, RootSearch.Root root, KeyOrder order) {
        return new Superblock(
                FormatVersion.CURRENT.number(),
                storeId,
                root.generation(),
                0,
                0,
                1,
                root.pages(),
                root.generation(),
                StoreOptions.builder().keyOrder(order).build().toString());
    }

    private StoreOptions options(StoreOptions stored) {
        return stored.toBuilder()
                .openMode(OpenMode.CREATE_NEW)
                .memory(ByteSize.mib(256))
                // A copy may take more than the store did, and the store may have been larger than its limit.
                .diskMax(new ByteSize(0))
                .mergeOperator(operator)
                .set("mergeOperator", stored.mergeOperatorName())
                .build();
    }

    private void requireSound(Storage to) {
        List<String> problems = target.verify().problems();
        if (!problems.isEmpty()) {
            String data = to.directory().resolve(StoreFiles.DATA).toString();
            throw new CorruptionException(data, 0, "COPY", "a sound copy", problems.getFirst());
        }
    }

    private void lose(String what) {
        losses++;
        listing.accept("lost: " + what);
    }

    private void loseOfAnyKey(String what) {
        lossesOfAnyKey++;
        lose(what);
    }

    @Override
    public boolean take(byte[] storedKey, byte[] value, List<byte[]> operands) {
        byte[] key = restored(storedKey);
        if (!operands.isEmpty() && !keepsOperands) {
            loseOperands(key);
            return false;
        }
        State state = write(key, () -> {
            if (value != null) {
                put(key, value);
            }
            operands.forEach(operand -> merge(key, operand));
            return State.SOUND;
        });
        return state == State.SOUND;
    }

    private void put(byte[] key, byte[] value) {
        try {
            target.put(key, value, Durability.NONE);
        } catch (InsufficientMemoryException tooLargeForAWrite) {
            operator.put(target, key, value);
        }
    }

    private void merge(byte[] key, byte[] operand) {
        try {
            target.merge(key, operand, Durability.NONE);
        } catch (InsufficientMemoryException tooLargeForAWrite) {
            operator.merge(target, key, operand);
        }
    }

    @Override
    public void lose(byte[] storedKey, StoreException why, boolean goesOn) {
        lose("key " + Keys.text(restored(storedKey)) + ": its value" + (goesOn ? " (what is older counts): " : ": ") + why.getMessage());
    }

    @Override
    public boolean holds(byte[] storedKey) {
        try {
            return target.contains(restored(storedKey));
        } catch (UnsupportedOperationException operands) {
            return true;
        }
    }

    /** The key as users know it. */
    private byte[] restored(byte[] storedKey) {
        byte[] key = storedKey.clone();
        form.restore(key, key.length);
        return key;
    }

    private void loseOperands(byte[] key) {
        lose("key " + Keys.text(key) + ": its value: there are operands, and the name of the merge operator is not known");
    }

    /** Returns what {@code writing} does, or that not all of it was written. */
    private State write(byte[] key, Supplier<State> writing) {
        try {
            return writing.get();
        } catch (InsufficientMemoryException | TooLargeException e) {
            lose("key " + Keys.text(key) + ": " + e.getMessage());
            return State.LOST;
        }
    }

    @Override
    public void beginGeneration(long generation) {}

    @Override
    public void beginBatch(long sequence, int count) {}

    @Override
    public void entry(long sequence, byte kind, long keyAddress, int keyLength, long valueAddress, int valueLength) {
        byte[] storedKey = Memory.bytes(keyAddress, keyLength);
        byte[] key = restored(storedKey);
        if (before != null) {
            note(storedKey, key);
        }
        if (kind == Entries.MERGE && !keepsOperands) {
            loseOperands(key);
            copied.follow(storedKey, kind, State.LOST);
            return;
        }
        logEntries++;
        copied.follow(storedKey, kind, write(key, () -> apply(storedKey, key, kind, valueAddress, valueLength)));
    }

    /** Notes what the copy has of a key before anything of the log is added to that. */
    private void note(byte[] storedKey, byte[] key) {
        if (!before.isToBeNoted(storedKey)) {
            return;
        }
        before.noteUnsure(storedKey);
        try {
            boolean isSure = copied.isSure(storedKey);
            if (isSure && !target.get(key, value -> before.noteValue(storedKey, LogKeys.hash(value)))) {
                before.noteNothing(storedKey);
            }
        } catch (InsufficientMemoryException unknown) {
            // It stays unsure.
        }
    }

    /** Returns whether it is sure that nothing younger was there. */
    private State apply(byte[] storedKey, byte[] key, byte kind, long valueAddress, int valueLength) {
        if (kind == Entries.DELETE) {
            target.delete(key, Durability.NONE);
            return before == null || before.isNothing(storedKey) ? State.SOUND : State.SUSPECT;
        }
        byte[] value = Memory.bytes(valueAddress, valueLength);
        if (kind == Entries.MERGE) {
            merge(key, value);
            return State.SOUND;
        }
        put(key, value);
        return before == null || before.isValue(storedKey, LogKeys.hash(value)) ? State.SOUND : State.SUSPECT;
    }

    @Override
    public void endBatch() {}
}
