package dev.heartwood.ycsb;

/**
 * Remembers whether anything has failed in this process, since YCSB's client ends well whatever happens.
 * Thread-safe: one flag that is only ever raised.
 */
final class Failures {
    private static volatile boolean any;

    private Failures() {}

    /** Something has failed. */
    static void note() {
        any = true;
    }

    /** Whether anything has. */
    static boolean any() {
        return any;
    }
}
