package dev.heartwood.engine.task;

/**
 * In which order a worker that serves every priority looks for what to do: what is most urgent first, unless all of them seal. As many stores as there are
 * workers may have something to be sealed all the time, and without merges that takes longer and longer, so one of the workers then takes turns with what
 * waits below. Guarded by the lock of the workers.
 */
final class Turns {
    private static final Priority[] MOST_URGENT_FIRST = Priority.values();

    // Of what is below SEAL, what was not served last comes first: one may follow the other for as long as memtables do.
    private static final Priority[] MERGES_FIRST = {Priority.COMPACT, Priority.CHECKPOINT, Priority.SEAL, Priority.IDLE};

    private static final Priority[] CHECKPOINTS_FIRST = {Priority.CHECKPOINT, Priority.COMPACT, Priority.SEAL, Priority.IDLE};

    /** What each worker is doing, or null. */
    private final Priority[] doing;

    private boolean wasSeal;
    /** What was done last below SEAL. */
    private boolean wasCheckpoint;

    Turns(int workers) {
        doing = new Priority[workers];
    }

    /** The priorities in the order in which somebody looks for what to do now. */
    Priority[] order() {
        if (!wasSeal || isAnyBelowSeal()) {
            return MOST_URGENT_FIRST;
        }
        return wasCheckpoint ? MERGES_FIRST : CHECKPOINTS_FIRST;
    }

    private boolean isAnyBelowSeal() {
        for (Priority each : doing) {
            if (each == Priority.CHECKPOINT || each == Priority.COMPACT) {
                return true;
            }
        }
        return false;
    }

    void begins(int worker, Priority task) {
        doing[worker] = task;
        wasSeal = task == Priority.SEAL;
        wasCheckpoint = task == Priority.CHECKPOINT || wasCheckpoint && task != Priority.COMPACT;
    }

    void ends(int worker) {
        doing[worker] = null;
    }
}
