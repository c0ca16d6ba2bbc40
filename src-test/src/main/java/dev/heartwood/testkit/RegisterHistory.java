package dev.heartwood.testkit;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What was written to and read from one key by many threads, with the times of calls and returns; says whether some order of the
 * operations explains every answer. Values are numbers, each written once; 0 is no value. Not thread-safe.
 */
public final class RegisterHistory {
    /*
     * The search of Wing and Gong with the memory of Lowe: an operation may come next when no other that is still to come had
     * returned before it was called. A configuration (which operations have been placed, and the value) is looked at once.
     */
    /** The return time of an operation that never returned. */
    public static final long NEVER = Long.MAX_VALUE;

    /** What an operation does. */
    public enum Kind {
        READ,
        WRITE
    }

    private record Operation(Kind kind, long value, long called, long returned) {}

    private record Configuration(BitSet placed, long value) {}

    private final List<Operation> operations = new ArrayList<>();

    /** Adds an operation; one that never returned may have happened or not. */
    public void add(Kind kind, long value, long called, long returned) {
        operations.add(new Operation(kind, value, called, returned));
    }

    /** How many operations there are. */
    public int size() {
        return operations.size();
    }

    /** Whether some order explains every answer. */
    public boolean isLinearizable() {
        List<Operation> ordered = new ArrayList<>(operations);
        ordered.sort(Comparator.comparingLong(Operation::called));
        Set<Configuration> seen = new HashSet<>();
        List<Configuration> open = new ArrayList<>();
        open.add(new Configuration(new BitSet(), 0));
        while (!open.isEmpty()) {
            Configuration now = open.removeLast();
            if (isComplete(ordered, now.placed)) {
                return true;
            }
            for (Configuration next : successors(ordered, now)) {
                if (seen.add(next)) {
                    open.add(next);
                }
            }
        }
        return false;
    }

    private static boolean isComplete(List<Operation> ordered, BitSet placed) {
        for (int i = placed.nextClearBit(0); i < ordered.size(); i = placed.nextClearBit(i + 1)) {
            if (ordered.get(i).returned != NEVER) {
                return false;
            }
        }
        return true;
    }

    private static List<Configuration> successors(List<Operation> ordered, Configuration now) {
        List<Configuration> next = new ArrayList<>();
        long returnedFirst = NEVER;
        for (int i = now.placed.nextClearBit(0); i < ordered.size(); i = now.placed.nextClearBit(i + 1)) {
            Operation operation = ordered.get(i);
            if (operation.called > returnedFirst) {
                break;
            }
            returnedFirst = Math.min(returnedFirst, operation.returned);
            if (operation.kind == Kind.WRITE || operation.value == now.value) {
                BitSet placed = (BitSet) now.placed.clone();
                placed.set(i);
                next.add(new Configuration(placed, operation.kind == Kind.WRITE ? operation.value : now.value));
            }
        }
        return next;
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        operations.stream().sorted(Comparator.comparingLong(Operation::called)).forEach(o -> text.append("\n  ")
                .append(o));
        return text.toString();
    }
}
