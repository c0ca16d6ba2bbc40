package dev.heartwood.ycsb;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Properties;
import site.ycsb.Client;
import site.ycsb.Workload;
import site.ycsb.measurements.exporter.TextMeasurementsExporter;
import site.ycsb.workloads.CoreWorkload;

/**
 * Runs YCSB's client, and ends with exit code 1 when a store could not be opened, or an operation failed or found no record, or, with
 * {@code dataintegrity=true}, other values than were written, which it counts on standard error, 2 when a property {@code heartwood.*} is not an option, there is no such workload, or a count is
 * no number or a larger one than the client takes, in a file or by itself.
 */
public final class Main {
    private static final int FAILED = 1;
    private static final int BAD_OPTION = 2;

    /** Numbers of records or operations. */
    private static final List<String> COUNTS = List.of(
            Client.RECORD_COUNT_PROPERTY, Client.OPERATION_COUNT_PROPERTY, Client.INSERT_COUNT_PROPERTY, "insertstart");

    /** Those of them that are an int, and limits: operations per second and seconds, of which any below 1 limits nothing. */
    private static final List<String> INTS = List.of(
            Client.OPERATION_COUNT_PROPERTY, Client.INSERT_COUNT_PROPERTY, Client.TARGET_PROPERTY, Client.MAX_EXECUTION_TIME);

    private Main() {}

    /** Takes the arguments of {@code site.ycsb.Client}. */
    public static void main(String[] arguments) {
        boolean verifies = false;
        try {
            Properties given = given(arguments);
            SharedTables.options(given);
            check(given);
            verifies = Boolean.parseBoolean(given.getProperty(CoreWorkload.DATA_INTEGRITY_PROPERTY));
            if (verifies) {
                VerifyExporter.handOnTo(given.getProperty(VerifyExporter.PROPERTY, TextMeasurementsExporter.class.getName()));
            }
        } catch (IllegalArgumentException | IOException e) {
            System.err.println("heartwood ycsb: " + e.getMessage());
            System.exit(BAD_OPTION);
        }
        // The client calls System.exit with 0 by itself; a hook is where the code can still be changed.
        Runtime.getRuntime().addShutdownHook(Thread.ofPlatform().unstarted(Main::endWithFailure));
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> {
            Failures.ofClient();
            failure.printStackTrace();
        });
        Client.main(verifies ? withVerifyExporter(arguments) : arguments);
    }

    /** What is given last counts. */
    private static String[] withVerifyExporter(String[] arguments) {
        String[] all = Arrays.copyOf(arguments, arguments.length + 2);
        all[arguments.length] = "-p";
        all[arguments.length + 1] = VerifyExporter.PROPERTY + "=" + VerifyExporter.class.getName();
        return all;
    }

    /**
     * The properties as the client takes them: those given one by one, be it by options of their own, before those of the files, and of
     * these the last.
     */
    private static Properties given(String[] arguments) throws IOException {
        Properties files = new Properties();
        Properties named = new Properties();
        for (int i = 0; i + 1 < arguments.length; i++) {
            String value = arguments[i + 1];
            int equals = value.indexOf('=');
            if (arguments[i].equals("-P")) {
                read(value, files);
            } else if (arguments[i].equals("-p") && equals > 0) {
                named.setProperty(value.substring(0, equals), value.substring(equals + 1));
            } else if (arguments[i].equals("-threads")) {
                named.setProperty(Client.THREAD_COUNT_PROPERTY, value);
            } else if (arguments[i].equals("-target")) {
                named.setProperty(Client.TARGET_PROPERTY, value);
            }
        }
        files.putAll(named);
        return files;
    }

    private static void read(String file, Properties into) throws IOException {
        try (InputStream text = Files.newInputStream(Path.of(file))) {
            into.load(text);
        } catch (IllegalArgumentException | IOException e) {
            throw new IOException("the workload file " + file + " cannot be read: " + e.getMessage(), e);
        }
    }

    /** Refuses what the client would end of with a stack or with exit code 0, or would take for the working directory. */
    private static void check(Properties given) {
        for (String count : COUNTS) {
            String value = given.getProperty(count, "0");
            if (!value.matches("\\d{1,18}")) {
                throw new IllegalArgumentException(count + " is '" + value + "' and not a number");
            }
        }
        for (String name : INTS) {
            number(name, given.getProperty(name, "0"));
        }
        if (!given.containsKey(Client.INSERT_COUNT_PROPERTY)) { // which is as many records then
            number(Client.RECORD_COUNT_PROPERTY, given.getProperty(Client.RECORD_COUNT_PROPERTY, "0"));
        }
        if (number(Client.THREAD_COUNT_PROPERTY, given.getProperty(Client.THREAD_COUNT_PROPERTY, "1")) < 1) {
            throw new IllegalArgumentException(Client.THREAD_COUNT_PROPERTY + " is less than 1");
        }
        if (given.getProperty(SharedTables.DIRECTORY, SharedTables.DIRECTORY_DEFAULT).isEmpty()) {
            throw new IllegalArgumentException(SharedTables.DIRECTORY + " names no directory");
        }
        String workload = given.getProperty(Client.WORKLOAD_PROPERTY, "");
        if (workload.isEmpty()) {
            throw new IllegalArgumentException("no workload is named; a workload file has " + Client.WORKLOAD_PROPERTY + "=CLASS");
        }
        if (!isWorkload(workload)) {
            throw new IllegalArgumentException("there is no workload '" + workload + "'");
        }
    }

    private static int number(String name, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            String what = value.matches("\\d+") ? "more than " + Integer.MAX_VALUE : "not a number";
            throw new IllegalArgumentException(name + " is '" + value + "' and " + what, e);
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
        List<String> failures = Failures.summary();
        if (!failures.isEmpty()) {
            System.out.flush();
            failures.forEach(line -> System.err.println("heartwood ycsb: " + line));
            Runtime.getRuntime().halt(FAILED);
        }
    }
}
