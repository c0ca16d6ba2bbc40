package dev.heartwood.ycsb;

import java.util.Properties;
import site.ycsb.Client;

/**
 * Runs YCSB's client, and ends with exit code 1 when a store could not be opened or an operation failed, which it counts on
 * standard error, 2 when a property {@code heartwood.*} is not an option.
 */
public final class Main {
    private static final int FAILED = 1;
    private static final int BAD_OPTION = 2;

    private Main() {}

    /** Takes the arguments of {@code site.ycsb.Client}. */
    public static void main(String[] arguments) {
        try {
            SharedTables.options(named(arguments));
        } catch (IllegalArgumentException e) {
            System.err.println("heartwood ycsb: " + e.getMessage());
            System.exit(BAD_OPTION);
        }
        // The client calls System.exit with 0 by itself; a hook is where the code can still be changed.
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(Main::endWithFailure));
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            Failures.ofClient();
            failure.printStackTrace();
        });
        Client.main(arguments);
    }

    /** The properties given one by one; those in files are the client's to read. */
    private static Properties named(String[] arguments) {
        Properties properties = new Properties();
        for (int i = 0; i + 1 < arguments.length; i++) {
            int equals = arguments[i + 1].indexOf('=');
            if (arguments[i].equals("-p") && equals > 0) {
                properties.setProperty(arguments[i + 1].substring(0, equals), arguments[i + 1].substring(equals + 1));
            }
        }
        return properties;
    }

    private static void endWithFailure() {
        String failures = Failures.summary();
        if (failures != null) {
            System.out.flush();
            System.err.println("heartwood ycsb: " + failures);
            Runtime.getRuntime().halt(FAILED);
        }
    }
}
