package dev.heartwood.ycsb;

import java.util.concurrent.atomic.LongAdder;

/** Counts what has failed in this process, since YCSB's client ends well whatever happens. Thread-safe. */
final class Failures {
    private static final LongAdder OPERATIONS = new LongAdder();
    private static final LongAdder CLIENTS = new LongAdder();

    private Failures() {}

    /** An operation has failed. That a key is absent is no failure. */
    static void ofOperation() {
        OPERATIONS.increment();
    }

    /** A client has failed outside of its operations: it could not begin, or end, or its thread died. */
    static void ofClient() {
        CLIENTS.increment();
    }

    /** How many operations have failed. */
    static long operations() {
        return OPERATIONS.sum();
    }

    /** All failures in words, or {@code null} when there were none. */
    static String summary() {
        long operations = OPERATIONS.sum();
        long clients = CLIENTS.sum();
        if (operations == 0 && clients == 0) {
            return null;
        }
        String text = operations == 0 ? "" : count(operations, "operation");
        String both = operations == 0 || clients == 0 ? "" : " and ";
        return text + both + (clients == 0 ? "" : count(clients, "client")) + " failed";
    }

    private static String count(long number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }
}
