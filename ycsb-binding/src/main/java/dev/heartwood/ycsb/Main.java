package dev.heartwood.ycsb;

import site.ycsb.Client;

/** Runs YCSB's client, and ends with exit code 1 when a store could not be opened or an operation failed. */
public final class Main {
    private static final int FAILED = 1;

    private Main() {}

    /** Takes the arguments of {@code site.ycsb.Client}. */
    public static void main(String[] arguments) {
        // The client calls System.exit with 0 by itself; a hook is where the code can still be changed.
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(Main::endWithFailure));
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            Failures.note();
            failure.printStackTrace();
        });
        Client.main(arguments);
    }

    private static void endWithFailure() {
        if (Failures.any()) {
            System.out.flush();
            System.err.println("heartwood ycsb: there were failures");
            Runtime.getRuntime().halt(FAILED);
        }
    }
}
