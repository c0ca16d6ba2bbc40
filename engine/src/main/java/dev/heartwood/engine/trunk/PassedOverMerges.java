package dev.heartwood.engine.trunk;

import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.node.CompactionPlan;
import dev.heartwood.engine.node.CompactionPolicy.Urge;
import dev.heartwood.engine.node.TrunkNode;
import java.util.HashSet;
import java.util.Set;

/**
 * Merges that could not be done now, as for want of space or because a page cannot be read: others are planned before them, which would
 * else wait for ever behind one that is the most wanted each time. Guarded by the trunk's structure lock, but for what is said to be thread-safe.
 */
final class PassedOverMerges {
    /** A node, known by where its keys begin, the same array while it is there. */
    private record Place(int height, byte[] from, long oldestBundle) {
        static Place of(TrunkNode node, Span span) {
            return new Place(node.height(), span.from(), node.bundle(0).id());
        }

        static Place of(CompactionPlan plan) {
            return of(plan.node(), plan.span());
        }
    }

    /** So many merges are done before those that are needed and were passed over are tried again, though others are needed, too. */
    private static final int DONE_BEFORE_RETRY = 16;

    private final Set<Place> needed = new HashSet<>();
    private final Set<Place> quiet = new HashSet<>();
    private final Set<Place> withoutSpace = new HashSet<>();

    /** Places of merges that were needed and failed, until one of such a place is done, or nothing is owed anywhere. */
    private final Set<Place> failing = new HashSet<>();

    private int doneSince;

    /** Read by any thread. */
    private volatile boolean isAnyFailing;

    /** Whether a node is passed over when merges of an urge are planned. */
    boolean contains(TrunkNode node, Span span, Urge urge) {
        boolean isNeeded = urge == Urge.NEEDED;
        if (needed.isEmpty() && (isNeeded || quiet.isEmpty() && withoutSpace.isEmpty())) {
            return false;
        }
        Place place = Place.of(node, span);
        return needed.contains(place) || !isNeeded && (quiet.contains(place) || withoutSpace.contains(place));
    }

    /** Until no other merge is needed, or some of those were done: there may be others for as long as somebody writes. */
    void addNeeded(CompactionPlan plan) {
        needed.add(Place.of(plan));
        failing.add(Place.of(plan));
        isAnyFailing = true;
    }

    void retryNeeded() {
        needed.clear();
        doneSince = 0;
    }

    /** Whether merges that are needed have failed, so that what they owe tells nothing of how fast others are. Thread-safe. */
    boolean isAnyFailing() {
        return isAnyFailing;
    }

    /** Nothing is owed: what failed was done, or is gone with its node. */
    void nothingIsOwed() {
        failing.clear();
        isAnyFailing = false;
    }

    /** A merge was done. */
    void done(CompactionPlan plan) {
        if (isAnyFailing && failing.remove(Place.of(plan))) {
            isAnyFailing = !failing.isEmpty();
        }
        if (!needed.isEmpty() && ++doneSince >= DONE_BEFORE_RETRY) {
            retryNeeded();
        }
    }

    /** In quiet moments, until those have nothing else to do. */
    void addQuiet(CompactionPlan plan) {
        quiet.add(Place.of(plan));
    }

    void retryQuiet() {
        quiet.clear();
    }

    /** In quiet moments, until there may be space. */
    void addWithoutSpace(CompactionPlan plan) {
        withoutSpace.add(Place.of(plan));
    }

    void retryWithoutSpace() {
        withoutSpace.clear();
    }

    /** Whether any waits for space. */
    boolean isAnyWithoutSpace() {
        return !withoutSpace.isEmpty();
    }
}
