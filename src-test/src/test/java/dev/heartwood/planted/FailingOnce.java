package dev.heartwood.planted;

/** The Java heap is full once, where a planted engine calls {@link #reached} after a test has armed it. */
public final class FailingOnce {
    private static boolean isArmed;

    private FailingOnce() {}

    static void arm() {
        isArmed = true;
    }

    /** Whether it has not been reached since. */
    static boolean isArmed() {
        return isArmed;
    }

    public static void reached() {
        if (isArmed) {
            isArmed = false;
            throw new OutOfMemoryError("planted");
        }
    }
}
