package dev.heartwood.engine.auto;

/**
 * Says when a change that is wanted is made: when it has been wanted for some intervals on end, and some time after the change before.
 * That time doubles with each change that comes soon after the one before, and halves with each that does not, so that of a load that
 * keeps changing its mind only a few are followed. Belongs to one thread at a time.
 */
final class Damping {
    /** Intervals on end for which a change must have been wanted. */
    static final int PATIENCE = 2;

    /** Intervals between two changes, at least and at most. */
    static final int DWELL_MIN = 10;

    static final int DWELL_MAX = 320;

    /** A change that comes within this many times the time there must be between two is soon. */
    static final int SOON = 3;

    private int dwell = DWELL_MIN;
    private int age = SOON * DWELL_MAX;
    private int streak;

    /** Notes an interval in which a change is wanted or not; returns whether it may be made now. */
    boolean allows(boolean wanted) {
        age = Math.min(age + 1, SOON * DWELL_MAX);
        streak = wanted ? streak + 1 : 0;
        return streak >= PATIENCE && age >= dwell;
    }

    /** Notes a change that was made, allowed or not. What could not be made, as on a full Java heap, is allowed again. */
    void changed() {
        dwell = age < SOON * dwell ? Math.min(DWELL_MAX, 2 * dwell) : Math.max(DWELL_MIN, dwell / 2);
        streak = 0;
        age = 0;
    }
}
