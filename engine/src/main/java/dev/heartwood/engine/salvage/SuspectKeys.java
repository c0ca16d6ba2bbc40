package dev.heartwood.engine.salvage;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts the keys of a copy that may be older than they should be. Is told of those alone of which something may be lost, and remembers
 * of them those that cannot be told again: it takes heap. One thread.
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

    private final Map<ByteBuffer, State> states = new HashMap<>();
    private long count;

    void set(byte[] key, State state) {
        State before = states.put(ByteBuffer.wrap(key), state);
        count += (state == State.SUSPECT ? 1 : 0) - (before == State.SUSPECT ? 1 : 0);
    }

    /** Counts a key that is suspect, or lost and not counted, without remembering it. */
    void setForgotten(State state) {
        count += state == State.SUSPECT ? 1 : 0;
    }

    /** Remembers a key that was forgotten, as it was. */
    void recall(byte[] key, State state) {
        states.put(ByteBuffer.wrap(key), state);
    }

    /** An operand was added to what the copy has of a key: if that is not known to be sound, the base may be among what was lost. */
    void addOperand(byte[] key) {
        if (states.get(ByteBuffer.wrap(key)) != State.SOUND) {
            set(key, State.SUSPECT);
        }
    }

    boolean knows(byte[] key) {
        return states.containsKey(ByteBuffer.wrap(key));
    }

    long count() {
        return count;
    }
}
