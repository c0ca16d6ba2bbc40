package dev.heartwood.engine.salvage;

/**
 * Counts the keys of a copy that may be older than they should be. Is told of those alone of which something may be lost, of each once, but for
 * those of the log, which it remembers. One thread.
 */
final class SuspectKeys {
    /** What the copy has of a key. */
    enum State {
        /** The newest there was; or nothing, as it was deleted. */
        SOUND,
        /** Something that may lack a version above or below it. */
        SUSPECT,
        /** Nothing, although there may have been something. */
        LOST
    }

    private final LogKeys log;
    /** Of each key of the log, by its number; null where nothing was told. */
    private final State[] states;

    private long count;

    SuspectKeys(LogKeys log) {
        this.log = log;
        this.states = new State[log.count()];
    }

    void set(byte[] key, State state) {
        int number = log.number(key);
        State before = null;
        if (number >= 0) {
            before = states[number];
            states[number] = state;
        }
        count += (state == State.SUSPECT ? 1 : 0) - (before == State.SUSPECT ? 1 : 0);
    }

    /** An operand was added to what the copy has of a key: if that is not known to be sound, the base may be among what was lost. */
    void addOperand(byte[] key) {
        if (state(key) != State.SOUND) {
            set(key, State.SUSPECT);
        }
    }

    /** What was told of a key of the log; null when nothing was. */
    State state(byte[] key) {
        int number = log.number(key);
        return number < 0 ? null : states[number];
    }

    long count() {
        return count;
    }
}
