package dev.heartwood.engine.base;

/** What who waits for something that takes others a moment does between one look and the next. */
public final class BriefWait {
    private static final int SPINS = 128;
    private static final int YIELDS = SPINS + 64;
    private static final long SLEEP_NANOS = 20_000;

    private BriefWait() {}

    /**
     * Lets others go on, the longer the more {@code looks} there were. Who waits long sleeps: yielding alone is not enough, since a carrier that
     * always has a virtual thread to go on with never looks for those that were woken from outside, and who is waited for may be one of them.
     */
    public static void pause(int looks) {
        if (looks < SPINS) {
            Thread.onSpinWait();
        } else if (looks < YIELDS) {
            Thread.yield();
        } else {
            Clock.SYSTEM.parkNanos(SLEEP_NANOS);
        }
    }
}
