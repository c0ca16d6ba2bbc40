package dev.heartwood.engine.verify;

import dev.heartwood.CorruptionException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.image.TreeWalk.BundleView;
import dev.heartwood.engine.image.TreeWalk.Node;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * Whether the maplets know every key that they may be asked for: of each of their branches, the keys for which it is active in the
 * node. Of the others a maplet need not know any, as the keys of a run are hashed again only where the node still holds them.
 * One thread.
 */
final class FilterChecks implements AutoCloseable {
    /** Misses named for one branch in one maplet; the others are counted. */
    private static final int MISSES_NAMED_MAX = 3;

    private final StoreView store;
    private final Consumer<String> problems;
    private final Map<Long, Map<Place, List<Span>>> places = new HashMap<>();
    private final Set<Long> damagedPages = new HashSet<>();
    private final long keyBuffer;
    private byte[] previous;

    /** A branch's place in a maplet: the value under which its keys are recorded. */
    private record Place(Maplet maplet, int value) {}

    FilterChecks(StoreView store, Consumer<String> problems) {
        this.store = store;
        this.problems = problems;
        this.keyBuffer = store.pool().allocate(Branch.KEY_BYTES_MAX);
        if (keyBuffer == 0) {
            throw new InsufficientMemoryException("no memory to hash keys of " + Branch.KEY_BYTES_MAX
                    + " bytes in: calls and cursors hold it; close cursors, or raise the memory option");
        }
    }

    /** Notes which maplets have to know which branches; those in {@code unusable} are not asked. */
    void note(Node node, Set<Maplet> unusable) {
        int start = 0;
        for (BundleView bundle : node.bundles()) {
            boolean isUsable = bundle.maplet() != null && !unusable.contains(bundle.maplet());
            for (int value = 0; isUsable && value < bundle.runs().size(); value++) {
                Branch branch = bundle.runs().get(value).branch();
                if (branch != null) {
                    places.computeIfAbsent(branch.id(), id -> new LinkedHashMap<>())
                            .computeIfAbsent(new Place(bundle.maplet(), value), place -> new ArrayList<>())
                            .addAll(node.activeSpans(bundle, start + value));
                }
            }
            start += bundle.runs().size();
        }
    }

    /** Pages that have been reported and are not to be asked. */
    void exclude(Set<Long> pages) {
        damagedPages.addAll(pages);
    }

    /** Checks the keys of a branch, as they are given to the result; {@link KeyCheck#finish} reports. */
    KeyCheck begin(Branch branch) {
        previous = null;
        return new KeyCheck(branch, places.getOrDefault(branch.id(), Map.of()));
    }

    @Override
    public void close() {
        store.pool().free(keyBuffer, Branch.KEY_BYTES_MAX);
    }

    /** The keys of one branch, in order. */
    final class KeyCheck implements Consumer<byte[]> {
        private final Branch branch;
        private final List<Place> askable;
        private final List<List<Span>> active;
        private final long[] misses;
        private final List<String> named = new ArrayList<>();

        KeyCheck(Branch branch, Map<Place, List<Span>> askable) {
            this.branch = branch;
            this.askable = List.copyOf(askable.keySet());
            this.active = List.copyOf(askable.values());
            this.misses = new long[askable.size()];
        }

        @Override
        public void accept(byte[] key) {
            if (previous != null && Arrays.equals(previous, key)) {
                return;
            }
            previous = key;
            Memory.copyFrom(key, 0, keyBuffer, key.length);
            long hash = store.tree().filterHash(keyBuffer, key.length);
            for (int i = 0; i < askable.size(); i++) {
                if (isActive(i, key) && !knows(askable.get(i), hash) && ++misses[i] <= MISSES_NAMED_MAX) {
                    named.add("maplet " + askable.get(i).maplet.id() + ": key " + Keys.text(key) + " of branch "
                            + branch.id() + " is missing");
                }
            }
        }

        private boolean isActive(int place, byte[] key) {
            for (Span span : active.get(place)) {
                if (span.contains(key)) {
                    return true;
                }
            }
            return false;
        }

        private boolean knows(Place place, long hash) {
            long page = place.maplet.pageNumberOf(hash);
            if (damagedPages.contains(page)) {
                return true;
            }
            int epoch = store.epochs().enter();
            try {
                return (place.maplet.lookup(store.file(), hash) >>> place.value & 1) != 0;
            } catch (CorruptionException e) {
                damagedPages.add(page);
                problems.accept("maplet " + place.maplet.id() + ", page " + page + " of the file: " + e.getMessage());
                return true;
            } finally {
                store.epochs().exit(epoch);
            }
        }

        /** Reports what is missing. */
        void finish() {
            named.forEach(problems);
            for (int i = 0; i < misses.length; i++) {
                if (misses[i] > MISSES_NAMED_MAX) {
                    problems.accept("maplet " + askable.get(i).maplet.id() + ": " + misses[i] + " keys of branch "
                            + branch.id() + " are missing");
                }
            }
        }
    }
}
