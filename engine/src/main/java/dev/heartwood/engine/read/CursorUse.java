package dev.heartwood.engine.read;

import dev.heartwood.ClosedException;
import dev.heartwood.engine.base.Clock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** Says who has a cursor now: its thread, which moves it, or somebody who has it let go of what it walks. Thread-safe. */
public final class CursorUse {
    /*
     *              tryBeginMove              pause
     *   AT_REST <----------------> MOVING <--------> PAUSED
     *      |          endMove                resume     |
     *      |                                            |
     *      `--------- take, giveBack: LETTING_GO -------'
     *
     * Between moves, and within one that is paused, the cursor's thread needs nothing of what is walked, so anybody may take the cursor, for
     * a moment. CLOSED comes from AT_REST, by the cursor's thread or by who closes the store. What is walked is let go of once, for good, from
     * AT_REST or from CLOSED (takeToLetGo, closed).
     *
     * Shared field   read       written                  guarded by
     * use            volatile   compareAndSet, release   -
     *
     * It publishes the walk of the cursor: who has set it to MOVING or LETTING_GO reads and writes that plainly, until he sets it to something
     * else.
     */
    private static final int AT_REST = 0;
    private static final int MOVING = 1;
    /** A move is under way that needs nothing of what it walks, and looks afterwards whether that is still there. */
    private static final int PAUSED = 2;
    /** Somebody else has the cursor let go of what it walks. */
    private static final int LETTING_GO = 3;

    private static final int CLOSED = 4;

    /** Nobody may take the cursor now. */
    static final int NOT_TAKEN = -1;

    /** How long to sleep before looking again whether somebody else is done with the cursor. */
    private static final long LETTING_GO_NANOS = 20_000;

    private static final VarHandle USE;

    static {
        try {
            USE = MethodHandles.lookup().findVarHandle(CursorUse.class, "use", int.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private volatile int use;

    /** Says that a move is under way; false when somebody else has the cursor. */
    boolean tryBeginMove() {
        return USE.compareAndSet(this, AT_REST, MOVING);
    }

    /** Waits a little for who lets go; refuses what will not end for the cursor's thread. */
    void awaitRest() {
        switch (use) {
            case MOVING, PAUSED ->
                    throw new IllegalStateException("the cursor is moved by another thread, or from within a move of its own");
            case CLOSED -> throw new ClosedException("the cursor");
            default -> Clock.SYSTEM.parkNanos(LETTING_GO_NANOS);
        }
    }

    void endMove() {
        USE.setRelease(this, AT_REST);
    }

    /** From now on others may let go of what is walked; within a move. */
    void pause() {
        USE.setRelease(this, PAUSED);
    }

    /** Ends {@link #pause}. */
    void resume() {
        while (!USE.compareAndSet(this, PAUSED, MOVING)) {
            Clock.SYSTEM.parkNanos(LETTING_GO_NANOS);
        }
    }

    /** Whether a move is under way, or may be. */
    boolean isMoving() {
        int now = use;
        return now == MOVING || now == PAUSED || now == LETTING_GO;
    }

    /** Takes the cursor unless a move needs what it walks; returns what to give to {@link #giveBack}, or {@link #NOT_TAKEN}. By any thread. */
    int take() {
        int before = use;
        boolean isFree = before != MOVING && before != LETTING_GO;
        return isFree && USE.compareAndSet(this, before, LETTING_GO) ? before : NOT_TAKEN;
    }

    /** Ends {@link #take}. */
    void giveBack(int before) {
        USE.setRelease(this, before);
    }

    /** Takes the cursor for the last time, waiting for a move under way; {@link #closed} ends it. */
    void takeToLetGo() {
        while (!USE.compareAndSet(this, AT_REST, LETTING_GO) && !USE.compareAndSet(this, CLOSED, LETTING_GO)) {
            Clock.SYSTEM.parkNanos(LETTING_GO_NANOS);
        }
    }

    /** Nobody moves the cursor any more, and it walks nothing. */
    void closed() {
        USE.setRelease(this, CLOSED);
    }

    /** Lets nobody move the cursor any more; returns false while a move is under way. */
    boolean takeToClose() {
        while (use != CLOSED && !USE.compareAndSet(this, AT_REST, CLOSED)) {
            int now = use;
            if (now == MOVING || now == PAUSED) {
                return false;
            }
            Clock.SYSTEM.parkNanos(LETTING_GO_NANOS);
        }
        return true;
    }
}
