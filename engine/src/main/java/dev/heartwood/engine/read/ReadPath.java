package dev.heartwood.engine.read;

import dev.heartwood.MergeOperator;
import dev.heartwood.engine.background.Generations;
import dev.heartwood.engine.background.Generations.Generation;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.call.Operation;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkVersion;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.record.StoreRecords;
import dev.heartwood.engine.trunk.TreeReader;
import dev.heartwood.engine.trunk.Trunk;

/**
 * Point reads: memtables from the newest, then the record cache, then the tree. Thread-safe; every call runs inside the epoch of its operation.
 *
 * <p>The list of memtables is read before the tree's version. A memtable leaves the list only after a version that has its
 * entries was published, so nothing is missed; one that is in both is passed over by its generation, so nothing is seen twice.
 */
public final class ReadPath {
    private final Generations generations;
    private final Trunk trunk;
    private final TreeStorage storage;
    private final MergeOperator operator;
    private final StoreRecords records;
    /** Whether a key was looked up, or a cursor opened or moved, since somebody asked; written only when it changes, so that they share its line. */
    private volatile boolean wasAsked;

    public ReadPath(
            Generations generations,
            Trunk trunk,
            TreeStorage storage,
            MergeOperator operator,
            StoreRecords records) {
        this.generations = generations;
        this.trunk = trunk;
        this.storage = storage;
        this.operator = operator;
        this.records = records;
    }

    /** Whether a key was looked up, or a cursor opened or moved, since this was called before; what happens beside this call may be missed. */
    public boolean wasAskedSince() {
        boolean was = wasAsked;
        wasAsked = false;
        return was;
    }

    /** Notes that a key is looked up, or a cursor opened or moved: where no filter or leaf is asked, nothing else tells. */
    public void noteAsked() {
        if (!wasAsked) {
            wasAsked = true;
        }
    }

    /** The current state with a reference that the caller gives back; within its epoch. */
    ViewSources pin() {
        Generation[] newestFirst = generations.newestFirst();
        return ViewSources.pin(newestFirst, trunk.version());
    }

    /**
     * Finds the newest entry of a key.
     *
     * @return whether the key has an entry; {@code operation.found} then is a PUT, a DELETE or the newest MERGE, or has begun a read instead
     */
    boolean findNewest(Operation operation, long keyAddress, int keyLength) {
        noteAsked();
        FoundEntry found = operation.found;
        long hash = KeyHasher.hash(keyAddress, keyLength);
        // Before the list of memtables: see the package of the record cache.
        long ticket = records.ticket();
        Generation[] newestFirst = generations.newestFirst();
        TrunkVersion version = trunk.version();
        if (findInMemtables(found, newestFirst, version, hash, keyAddress, keyLength, Entries.NEWEST)
                || records.find(hash, keyAddress, keyLength, found)) {
            return true;
        }
        boolean exists = findInTree(found, version, hash, keyAddress, keyLength, Entries.NEWEST);
        if (exists && !found.hasBegun) {
            records.offer(ticket, hash, keyAddress, keyLength, found);
        }
        return exists;
    }

    /** As {@link #findNewest} at or before {@code snapshot}, in what it pinned. */
    boolean find(Operation operation, ViewSources sources, long keyAddress, int keyLength, long snapshot) {
        noteAsked();
        FoundEntry found = operation.found;
        long hash = KeyHasher.hash(keyAddress, keyLength);
        return findInMemtables(
                        found, sources.newestFirst(), sources.version(), hash, keyAddress, keyLength, snapshot)
                || findInTree(found, sources.version(), hash, keyAddress, keyLength, snapshot);
    }

    private static boolean findInMemtables(
            FoundEntry found,
            Generation[] newestFirst,
            TrunkVersion version,
            long hash,
            long keyAddress,
            int keyLength,
            long snapshot) {
        for (Generation generation : newestFirst) {
            if (generation.number() <= version.generation()) {
                break;
            }
            if (generation.memtable().find(hash, keyAddress, keyLength, snapshot, found)) {
                return true;
            }
        }
        return false;
    }

    private boolean findInTree(
            FoundEntry found, TrunkVersion version, long hash, long keyAddress, int keyLength, long snapshot) {
        long filterHash = storage.hasGroups() ? storage.filterHash(keyAddress, keyLength) : hash;
        return TreeReader.find(storage, trunk, version, filterHash, keyAddress, keyLength, snapshot, found);
    }

    Trunk trunk() {
        return trunk;
    }

    TreeStorage storage() {
        return storage;
    }

    public MergeOperator operator() {
        return operator;
    }
}
