package dev.heartwood.engine.trunk;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.base.FoundEntry;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchReader;
import dev.heartwood.engine.branch.BranchReader.Answer;
import dev.heartwood.engine.node.Bundle;
import dev.heartwood.engine.node.Pivot;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.node.TrunkNode;
import dev.heartwood.engine.node.TrunkVersion;
import dev.heartwood.engine.os.Memory;

/**
 * Point reads (SplinterDB, section 2.2, with one maplet per bundle): from the root down, in each node from the youngest bundle to
 * the oldest, asking a bundle's maplet which runs may hold the key. Stateless; every method runs inside an epoch.
 */
public final class TreeReader {
    /*
     * Where a leaf has one run, a key that is anywhere is there. A reader that has found its keys in the cache lately looks there
     * without asking the filter, whose pages cost about as many cache misses as the leaf; if the leaf would have to be read, it
     * asks the filter first. Keys that are not there, and reads of the device, have it ask filters again. One that has found all keys
     * for long, wherever, asks no filter: to look costs as much as to read its page, and one that is in the cache would stay there for being asked,
     * in the place of leaves. Where some keys are not there, filters come into the cache instead.
     */
    private static final int EXPECTED_AFTER = 4;

    private static final int SURE_AFTER = 64;

    private TreeReader() {}

    /**
     * Finds the newest entry of a key with a sequence number of at most {@code snapshot}.
     *
     * @return whether there is one, which {@code result} then describes, or a read was begun instead ({@link FoundEntry#hasBegun})
     */
    public static boolean find(
            TreeStorage storage,
            Trunk trunk,
            TrunkVersion version,
            long hash,
            long keyAddress,
            int keyLength,
            long snapshot,
            FoundEntry result) {
        int probes = 0;
        int falsePositives = 0;
        boolean found = false;
        try {
            for (TrunkNode node = version.root(); node != null; ) {
                Pivot pivot = node.pivot(node.pivotOf(keyAddress, keyLength));
                if (pivot.child() == null && result.foundInARow >= EXPECTED_AFTER) {
                    Answer answer = findInOnly(storage, node, pivot, keyAddress, keyLength, snapshot, result);
                    if (answer != Answer.UNKNOWN) {
                        found = answer == Answer.FOUND;
                        return found;
                    }
                }
                int start = node.runCount();
                for (int b = node.bundleCount() - 1; b >= 0 && start > pivot.firstActive(); b--) {
                    Bundle bundle = node.bundle(b);
                    start -= bundle.runs().length;
                    if (!contains(bundle.span(), keyAddress, keyLength)) {
                        continue;
                    }
                    probes++;
                    long candidates = candidates(storage, bundle, hash);
                    while (candidates != 0) {
                        int r = 63 - Long.numberOfLeadingZeros(candidates);
                        candidates &= ~(1L << r);
                        if (start + r < pivot.firstActive() || r >= bundle.runs().length || bundle.runs()[r] == null) {
                            continue;
                        }
                        if (BranchReader.find(
                                storage.file(), bundle.runs()[r].branch(), keyAddress, keyLength, snapshot, result)) {
                            found = true;
                            return true;
                        }
                        falsePositives++;
                    }
                }
                node = pivot.child();
            }
            return false;
        } finally {
            if (probes > 0) {
                trunk.events().probed(probes, falsePositives);
            }
            if (!result.hasBegun) {
                countFound(result, found);
            }
        }
    }

    /** Looks for a key that is likely to be there in the one run of a leaf; {@link Answer#UNKNOWN} where the filter is to be asked. */
    private static Answer findInOnly(
            TreeStorage storage,
            TrunkNode leaf,
            Pivot pivot,
            long keyAddress,
            int keyLength,
            long snapshot,
            FoundEntry result) {
        Run only = onlyRun(leaf, pivot, keyAddress, keyLength);
        if (only == null) {
            return Answer.UNKNOWN;
        }
        if (result.foundInCache == EXPECTED_AFTER) {
            Answer answer = BranchReader.findCached(storage.file(), only.branch(), keyAddress, keyLength, snapshot, result);
            if (answer != Answer.UNKNOWN) {
                return answer;
            }
        }
        if (result.foundInARow < SURE_AFTER) {
            return Answer.UNKNOWN;
        }
        boolean found = BranchReader.find(storage.file(), only.branch(), keyAddress, keyLength, snapshot, result);
        return found ? Answer.FOUND : Answer.ABSENT;
    }

    private static void countFound(FoundEntry result, boolean found) {
        result.foundInARow = found ? Math.min(SURE_AFTER, result.foundInARow + 1) : 0;
        if (!found || result.isFromDevice) {
            result.foundInCache = 0;
        } else if (result.foundInCache < EXPECTED_AFTER) {
            result.foundInCache++;
        }
    }

    /** The one run of a leaf that may hold a key; null when there are several, or none. */
    private static Run onlyRun(TrunkNode leaf, Pivot pivot, long keyAddress, int keyLength) {
        if (leaf.runCount() - pivot.firstActive() != 1) {
            return null;
        }
        Bundle last = leaf.bundle(leaf.bundleCount() - 1);
        return contains(last.span(), keyAddress, keyLength) ? last.runs()[last.runs().length - 1] : null;
    }

    /** The runs that may hold a key. A damaged filter excludes none: the runs themselves are asked. */
    private static long candidates(TreeStorage storage, Bundle bundle, long hash) {
        try {
            return bundle.maplet().lookup(storage.file(), hash);
        } catch (CorruptionException reportedWhereItWasRead) {
            return bundle.maplet().values();
        }
    }

    private static boolean contains(Span span, long keyAddress, int keyLength) {
        return span == Span.ALL
                || (span.from() == null || Memory.compare(keyAddress, keyLength, span.from()) >= 0)
                        && (span.to() == null || Memory.compare(keyAddress, keyLength, span.to()) < 0);
    }
}
