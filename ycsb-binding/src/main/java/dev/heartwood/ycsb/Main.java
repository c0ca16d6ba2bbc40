package dev.heartwood.ycsb;

import java.util.List;
import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.Workload;

/**
 * Runs YCSB's client, and ends with exit code 1 when a store could not be opened or an operation failed, which it counts on
 * standard error, 2 when a property {@code heartwood.*} is not an option, there is no such workload, or a count is
 * no number.
 */
public final class Main {
    private static final int FAILED = 1;
    private static final int BAD_OPTION = 2;

    /** Numbers of records or operations. */
    private static final List<String> COUNTS = List.of(
            Client.RECORD_COUNT_PROPERTY, Client.OPERATION_COUNT_PROPERTY, Client.INSERT_COUNT_PROPERTY, "insertstart");

    private Main() {}

    /** Takes the arguments of {@code site.ycsb.Client}. */
    public static void main(String[] arguments) {
        try {
            Properties named = named(arguments);
            SharedTables.options(named);
            check(named);
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

    /** Refuses what the client would end of with a stack or with exit code 0, or would take for the working directory. */
    private static void check(Properties named) {
        for (String count : COUNTS) {
            String value = named.getProperty(count, "0");
            if (!value.matches("\\d{1,18}")) {
                throw new IllegalArgumentException(count + " is '" + value + "' and not a number");
            }
        }
        if (named.getProperty(SharedTables.DIRECTORY, SharedTables.DIRECTORY_DEFAULT).isEmpty()) {
            throw new IllegalArgumentException(SharedTables.DIRECTORY + " names no directory");
        }
        String workload = named.getProperty(Client.WORKLOAD_PROPERTY);
        if (workload != null && !isWorkload(workload)) {
            throw new IllegalArgumentException("there is no workload '" + workload + "'");
        }
    }

    private static boolean isWorkload(String name) {
        try {
            return Workload.class.isAssignableFrom(Class.forName(name, false, Main.class.getClassLoader()));
        } catch (ClassNotFoundException | LinkageError e) {
            return false;
        }
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
