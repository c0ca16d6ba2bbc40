package dev.heartwood.engine.store;

import dev.heartwood.MergeOperator;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.os.KeyHasher;
import dev.heartwood.engine.store.Generations.Generation;
import dev.heartwood.engine.trunk.TreeReader;
import dev.heartwood.engine.trunk.TreeStorage;
import dev.heartwood.engine.trunk.Trunk;
import dev.heartwood.engine.trunk.TrunkVersion;

/**
 * Point reads: memtables from the newest, then the tree. Thread-safe; every call runs inside the epoch of its operation.
 *
 * <p>The list of memtables is read before the tree's version. A memtable leaves the list only after a version that has its
 * entries was published, so nothing is missed; one that is in both is passed over by its generation, so nothing is seen twice.
 */
final class ReadPath {
    private final Generations generations;
    private final Trunk trunk;
    private final TreeStorage storage;
    private final MergeOperator operator;

    ReadPath(Generations generations, Trunk trunk, TreeStorage storage, MergeOperator operator) {
        this.generations = generations;
        this.trunk = trunk;
        this.storage = storage;
        this.operator = operator;
    }

    /** Where the sources of one read come from: the current state, or what a snapshot pinned. */
    record Sources(Generation[] newestFirst, TrunkVersion version) {}

    /** The current state, within the caller's epoch. */
    Sources current() {
        Generation[] newestFirst = generations.newestFirst();
        return new Sources(newestFirst, trunk.version());
    }

    /**
     * Finds the newest entry of a key at or before {@code snapshot} in the current state.
     *
     * @return whether the key has an entry; {@code operation.found} then is a PUT, a DELETE or the newest MERGE
     */
    boolean find(Operation operation, long keyAddress, int keyLength, long snapshot) {
        Generation[] newestFirst = generations.newestFirst();
        return find(operation.found, newestFirst, trunk.version(), keyAddress, keyLength, snapshot);
    }

    /** As {@link #find} in the state that a snapshot pinned. */
    boolean find(Operation operation, Sources sources, long keyAddress, int keyLength, long snapshot) {
        return find(operation.found, sources.newestFirst, sources.version, keyAddress, keyLength, snapshot);
    }

    private boolean find(
            FoundEntry found,
            Generation[] newestFirst,
            TrunkVersion version,
            long keyAddress,
            int keyLength,
            long snapshot) {
        long hash = KeyHasher.hash(keyAddress, keyLength);
        for (Generation generation : newestFirst) {
            if (generation.number() <= version.generation()) {
                break;
            }
            if (generation.memtable().find(hash, keyAddress, keyLength, snapshot, found)) {
                return true;
            }
        }
        return TreeReader.find(storage, trunk, version, hash, keyAddress, keyLength, snapshot, found);
    }

    Trunk trunk() {
        return trunk;
    }

    TreeStorage storage() {
        return storage;
    }

    MergeOperator operator() {
        return operator;
    }
}
