package dev.heartwood;

/**
 * Is told what happens in a store. Called by background threads, one event at a time, soon after it happened; it may use the store,
 * but must not close it. What it throws is counted in {@link StoreStats#listenerFailures()} and has no other effect.
 */
public interface StoreListener {
    /** A page was found damaged. */
    default void corruption(CorruptionEvent event) {}

    /** A store whose policy is {@link CompactionPolicyKind#AUTO} has changed something by itself. */
    default void policyChange(PolicyChange event) {}
}
