package dev.heartwood.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Counts what has failed or found nothing in this process, since YCSB's client ends well whatever happens. Thread-safe. */
final class Failures {
    private static final LongAdder CALLS = new LongAdder();
    private static final LongAdder OPERATIONS = new LongAdder();
    private static final LongAdder ABSENT = new LongAdder();
    private static final LongAdder WRONG = new LongAdder();
    private static final LongAdder CLIENTS = new LongAdder();

    private Failures() {}

    /** An operation begins. */
    static void call() {
        CALLS.increment();
    }

    /** An operation has failed. */
    static void ofOperation() {
        OPERATIONS.increment();
    }

    /**
     * An operation has not found the record that it named. No workload names others than were loaded, or inserted before, so they were
     * not loaded, or to another place.
     */
    static void ofAbsentRecord() {
        ABSENT.increment();
    }

    /** Reads have not found what the workload says was written. */
    static void ofWrongReads(long count) {
        WRONG.add(count);
    }

    /** A client has failed outside of its operations: it could not begin, or end, or its thread died. */
    static void ofClient() {
        CLIENTS.increment();
    }

    /** How many operations have failed. */
    static long operations() {
        return OPERATIONS.sum();
    }

    /** How many operations have not found their record. */
    static long absentRecords() {
        return ABSENT.sum();
    }

    /** All that failed or found nothing, or something wrong, in words, a line each; empty when there was none. */
    static List<String> summary() {
        long operations = OPERATIONS.sum();
        long clients = CLIENTS.sum();
        long absent = ABSENT.sum();
        List<String> lines = new ArrayList<>();
        if (operations > 0 || clients > 0) {
            String text = operations == 0 ? "" : count(operations, "operation");
            String both = operations == 0 || clients == 0 ? "" : " and ";
            lines.add(text + both + (clients == 0 ? "" : count(clients, "client")) + " failed");
        }
        if (absent > 0) {
            lines.add(absent + " of " + count(CALLS.sum(), "operation") + " found no record: load first, with the same "
                    + SharedTables.DIRECTORY + " and recordcount");
        }
        if (WRONG.sum() > 0) {
            lines.add(count(WRONG.sum(), "read") + " did not find the values that dataintegrity=true writes: load with it, too");
        }
        return lines;
    }

    private static String count(long number, String what) {
        return number + " " + what + (number == 1 ? "" : "s");
    }
}
