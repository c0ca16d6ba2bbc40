package dev.heartwood.testkit;

import dev.heartwood.KeyValueStore;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.TreeStore.Bug;
import java.util.NavigableMap;
import java.util.random.RandomGenerator;

/** Keeps the contents of a {@link TreeStore} from one open to the next. */
public final class TreeStoreHost implements StoreHost {
    /** What a crash does to what was written. */
    public enum Crashes {
        KEEP_EVERYTHING,
        LOSE_A_KEY
    }

    private final Bug bug;
    private final Crashes crashes;
    private NavigableMap<byte[], byte[]> survived = Model.newMap();
    private TreeStore store;

    /** A host of an empty store. */
    public TreeStoreHost(Bug bug, Crashes crashes) {
        this.bug = bug;
        this.crashes = crashes;
    }

    @Override
    public KeyValueStore open(RandomGenerator random) {
        if (store != null) {
            survived = store.contents();
        }
        StoreOptions options =
                StoreOptions.builder().mergeOperator(new TailMergeOperator()).build();
        store = new TreeStore(survived, options, bug, TreeStore.Journal.NONE);
        return store;
    }

    @Override
    public boolean canCrash() {
        return true;
    }

    @Override
    public void crash(CrashKind kind, RandomGenerator random) {
        survived = store.contents();
        if (crashes == Crashes.LOSE_A_KEY) {
            survived.pollFirstEntry();
        }
        store = null;
    }
}
