package dev.heartwood.kafka;

import dev.heartwood.CorruptionException;
import dev.heartwood.Cursor;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NotAStoreException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import java.io.File;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Set;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.apache.kafka.streams.errors.StreamsException;
import org.apache.kafka.streams.errors.TaskCorruptedException;
import org.apache.kafka.streams.processor.StateStoreContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens the directory of a store in the environment of its KafkaStreams instance, and takes it back to its last commit if need be. */
final class TableOpener {
    /** The directory, within the task's, that holds one directory for each store. */
    static final String DIRECTORY = "heartwood";

    /** The one for stores whose names are not names of a file. */
    private static final String DIRECTORY_OF_OTHER_NAMES = "heartwood.names";

    private static final String DATA_FILE = "data.hw";
    private static final Logger LOG = LoggerFactory.getLogger(TableOpener.class);

    private final StateStoreContext context;
    private final String name;
    private final TableShape shape;
    private final TableFilter filter;
    private final Time time;

    TableOpener(StateStoreContext context, String name, TableShape shape, TableFilter.Expiry expiry, Time time) {
        this.context = context;
        this.name = name;
        this.shape = shape;
        this.filter = new TableFilter(shape.kind(), expiry);
        this.time = time;
    }

    /** Where the store lies in a task's directory: of any two names neither is in the directory of the other. */
    static Path directory(File taskDirectory, String name) {
        Path task = taskDirectory.toPath();
        return isFileName(name)
                ? task.resolve(DIRECTORY).resolve(name)
                : task.resolve(DIRECTORY_OF_OTHER_NAMES).resolve(fileName(name));
    }

    private static boolean isFileName(String name) {
        return !name.isEmpty() && !name.contains("/") && !name.equals(".") && !name.equals("..");
    }

    /** The name of a file for a name that is none: another one for each, since only names without a slash begin with a bare percent sign. */
    private static String fileName(String name) {
        String escaped = name.replace("%", "%25").replace("/", "%2F");
        return name.contains("/") ? escaped : "%" + escaped;
    }

    /**
     * Brings a store whose name has a slash from where versions before kept it, which was below the directory of another. It may have nothing to be
     * restored from, since no topic has such a name.
     */
    private static void moveFromOldPlace(Path directory, File taskDirectory, String name) throws IOException {
        Path stores = taskDirectory.toPath().resolve(DIRECTORY);
        Path old = stores.resolve(name);
        boolean isBelowAnother = old.startsWith(stores)
                && old.equals(old.normalize())
                && old.getNameCount() > stores.getNameCount() + 1;
        if (isBelowAnother && Files.exists(old.resolve(DATA_FILE)) && Files.notExists(directory)) {
            Files.createDirectories(directory.getParent());
            Files.move(old, directory);
            deleteEmpty(old.getParent(), stores);
            LOG.info("Store {} was moved from {} to {}, apart from other stores", name, old, directory);
        }
    }

    /** Deletes a directory, and those above up to another, as far as nothing else is in them: a store of that name would find them there. */
    private static void deleteEmpty(Path directory, Path end) throws IOException {
        try {
            for (Path empty = directory; !empty.equals(end); empty = empty.getParent()) {
                Files.delete(empty);
            }
        } catch (DirectoryNotEmptyException others) {
            // They stay.
        }
    }

    /**
     * Opens the table.
     *
     * @throws TaskCorruptedException when it holds writes that exactly-once processing must not see and there is no way back, unless the
     *     store is global
     * @throws ProcessorStateException when it cannot be opened
     * @throws StreamsException when it is global and cannot be opened for a reason that restoring it does not cure
     */
    StateTable open() {
        HeartwoodStoreConfig config = HeartwoodStoreConfig.of(context.appConfigs());
        Path directory = directory(context.stateDir(), name);
        try {
            moveFromOldPlace(directory, context.stateDir(), name);
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw refused("The directory " + directory + " cannot be made", e);
        }
        SharedEnvironment shared = null;
        KeyValueStore store = null;
        try {
            shared = SharedEnvironment.acquire(context.metrics(), config);
            StoreOptions options = config.store().toBuilder()
                    .compactionFilter(filter)
                    .groupSuffixBytes(shape.kind().groupSuffixBytes())
                    .build();
            store = openOrMakeAnew(shared, directory, options);
            return open(store, shared, config);
        } catch (StoreException e) {
            giveUp(store, shared, e);
            throw refused("Store " + name + " cannot be opened in " + directory, e);
        } catch (RuntimeException | Error e) {
            giveUp(store, shared, e);
            throw e;
        }
    }

    /**
     * Kafka Streams opens the stores of all tasks that it finds when it starts, and does not start where it cannot. Where Kafka deleted a task's directory and
     * was killed, the data file may be gone and others not: nothing of such a store can be opened, and the changelog has all of it. A store has no
     * directories, so what is in one is not of it, and stays.
     */
    private KeyValueStore openOrMakeAnew(SharedEnvironment shared, Path directory, StoreOptions options) {
        try {
            return shared.environment().open(directory, options);
        } catch (NotAStoreException e) {
            if (Files.exists(directory.resolve(DATA_FILE), LinkOption.NOFOLLOW_LINKS)) {
                throw e;
            }
            LOG.warn("Store {} is made anew, and restored: its data file is gone from {}, as where a deletion was cut short", name, directory);
            try {
                deleteFiles(directory);
            } catch (IOException | DirectoryIteratorException cause) {
                e.addSuppressed(cause);
                throw e;
            }
            return shared.environment().open(directory, options);
        }
    }

    private static void deleteFiles(Path directory) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (Path file : files) {
                Files.delete(file);
            }
        }
    }

    private static void giveUp(KeyValueStore store, SharedEnvironment shared, Throwable failure) {
        try {
            if (store != null) {
                store.close();
            }
        } catch (StoreException e) {
            failure.addSuppressed(e);
        } finally {
            if (shared != null) {
                shared.release();
            }
        }
    }

    private StateTable open(KeyValueStore store, SharedEnvironment shared, HeartwoodStoreConfig config) {
        TableShape found = shape(store);
        byte[] encoded = store.get(TableKeys.COMMIT);
        CommitState committed = encoded == null ? CommitState.none() : CommitState.decode(name, shape.kind(), encoded);
        if (encoded != null) {
            // What this commit does not need may be dropped from now on, so a loss of power must not take it back.
            store.sync();
        }
        CommitMode mode = CommitMode.of(context.appConfigs());
        String noWayBack = noWayBack(store, committed, config.rollbackAgeMaxMillis());
        boolean isAhead = noWayBack != null;
        if (isAhead) {
            if (CommitMode.isExactlyOnce(context.appConfigs())) {
                throw corrupted(new ProcessorStateException(
                        "Store " + name + noWayBack + "; exactly-once processing must not see them, so the store has to be restored"));
            }
            if (mode.undoes()) {
                LOG.info("Store {}{}, and is not transactional until it has been closed after another", name, noWayBack);
            }
            mode = CommitMode.KEEP;
            store.put(TableKeys.AHEAD, new byte[0]);
        } else {
            rollBack(store, committed, found.firstNew(committed));
        }
        if (found.segmentMillis() != shape.segmentMillis()) {
            LOG.info("Store {} is moved to time segments of {} ms, which its retention asks for now", name, shape.segmentMillis());
            new SegmentMove(store, shape).run();
        }
        TableMetrics metrics = new TableMetrics(context, name, shared);
        StateTable table = new StateTable(new StateTable.Parts(
                name, store, shape, filter, mode, committed, isAhead, dataUpTo(store, committed, isAhead, mode), isEmpty(store), isGlobal(),
                config.rollbackAgeMaxMillis(), time, shared::undoneKeys, closed -> {
            try {
                metrics.remove();
            } finally {
                shared.release();
            }
        }));
        metrics.add(table);
        return table;
    }

    /**
     * Why the store may not go back to its last commit, or null when it may. Kafka Streams reads the changelog from that commit on, and
     * Kafka removes deletions from it some time after they were written; what was deleted since would be there again and stay.
     */
    private String noWayBack(KeyValueStore store, CommitState committed, long ageMaxMillis) {
        if (store.contains(TableKeys.AHEAD)) {
            return " was left with writes after its last commit that have no way back to it, by at-least-once processing or longer after it than "
                    + HeartwoodStoreConfig.ROLLBACK_AGE_MAX_MS;
        }
        boolean wouldGoBack = committed.knowsOffsets() && UndoLog.leadsBack(store, committed.epoch());
        if (wouldGoBack && !committed.isYoung(time.milliseconds(), ageMaxMillis)) {
            return " was left with writes after its last commit, which is not known to be younger than "
                    + HeartwoodStoreConfig.ROLLBACK_AGE_MAX_MS + ", " + ageMaxMillis + " ms";
        }
        return null;
    }

    /** What has Kafka Streams restore the store: it takes a corrupted task for that, but of global stores only this. */
    private StreamsException corrupted(ProcessorStateException cause) {
        return isGlobal() ? cause : new TaskCorruptedException(Set.of(context.taskId()), cause);
    }

    /** So what restoring does not cure is another exception there: under exactly-once Kafka Streams would delete all global stores for nothing. */
    private StreamsException refused(String message, Exception cause) {
        return isGlobal() && !(cause instanceof CorruptionException)
                ? new StreamsException(message, cause)
                : new ProcessorStateException(message, cause);
    }

    private boolean isGlobal() {
        return context.taskId().partition() < 0;
    }

    private void rollBack(KeyValueStore store, CommitState committed, long firstNew) {
        long undone = UndoLog.rollBack(store, committed.epoch());
        boolean removed = firstNew != TableShape.NOTHING_NEW && remove(store, committed, firstNew);
        if (undone > 0 || removed) {
            LOG.info("Store {} went back to its last commit: {} keys were changed after it{}",
                    name, undone, removed ? ", and later data was added" : "");
        }
        if (committed.isOfNothing() && UndoLog.remove(store, TableKeys.ALL_DATA)) {
            LOG.info("Store {} was emptied: it was left before it had an offset, and is restored from the beginning", name);
        }
    }

    private boolean remove(KeyValueStore store, CommitState committed, long firstNew) {
        return shape.kind() == TableKind.VERSIONED
                ? UndoLog.removeAdded(store, committed.epoch(), firstNew)
                : UndoLog.remove(store, SegmentKeys.segmentsFrom(firstNew));
    }

    private static boolean isEmpty(KeyValueStore store) {
        try (Cursor data = store.cursor(TableKeys.ALL_DATA)) {
            return !data.first();
        }
    }

    /** No data is later than this: what a killed process wrote may be later than the last commit knows. */
    private long dataUpTo(KeyValueStore store, CommitState committed, boolean isAhead, CommitMode mode) {
        if (shape.kind() == TableKind.VERSIONED) {
            return versionsUpTo(store, isAhead ? CommitState.UNKNOWN : committed.dataUpTo(), mode);
        }
        long millis = shape.segmentMillis();
        if (millis == 0) {
            return -1;
        }
        try (Cursor data = store.cursor(TableKeys.ALL_DATA)) {
            long last = data.last() ? SegmentKeys.segment(data.key()) : -1;
            return last < Long.MAX_VALUE / millis ? (last + 1) * millis - 1 : Long.MAX_VALUE;
        }
    }

    /** When the latest version begins; looked for, if it is not known, where writes are undone. */
    private static long versionsUpTo(KeyValueStore store, long known, CommitMode mode) {
        if (known != CommitState.UNKNOWN || !mode.undoes()) {
            return known;
        }
        long latest = -1;
        try (Cursor data = store.cursor(TableKeys.ALL_DATA)) {
            while (data.next()) {
                latest = Math.max(latest, TableKind.VERSIONED.time(data.key()));
            }
        }
        return latest;
    }

    private TableShape shape(KeyValueStore store) {
        byte[] stored = store.get(TableKeys.SHAPE);
        if (stored != null) {
            return shape.found(name, stored);
        }
        store.put(TableKeys.SHAPE, shape.encoded());
        return shape;
    }
}
