package dev.heartwood;

/**
 * Is told what happens in a store. Called by a thread that does nothing else, one event at a time, in order, soon after it happened. It may take
 * its time, and use the store, but must not close it. What it throws is counted in {@link StoreStats#listenerFailures()} and has no
 * other effect; so are events that are not told because 65,536 others wait already. Closing the environment waits until all are told.
 */
public interface StoreListener {
    /** A page was found damaged. */
    default void corruption(CorruptionEvent event) {}

    /**
     * A write or a sync has failed, maybe in the background, or the Java heap was full where that leaves no way on: the store takes no more writes, each of
     * which throws {@link PreviousFailureException}, until it is opened again. Told once; where there was no heap to tell it with, not at all.
     */
    default void stopped(Throwable cause) {}

    /** A store whose policy is {@link CompactionPolicyKind#AUTO} has changed something by itself. */
    default void policyChange(PolicyChange event) {}
}
