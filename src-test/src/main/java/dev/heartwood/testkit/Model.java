package dev.heartwood.testkit;

import dev.heartwood.Durability;
import dev.heartwood.MergeOperator;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;

/**
 * What a store must contain: a sorted map, the steps that led to it, and which of them are sure to survive what. A step is one
 * write or one batch; steps are numbered from 1. Belongs to one thread.
 */
public final class Model {
    /*
     * After a crash the store may hold the state after any prefix of the steps that contains every step promised to survive it.
     * Steps of level NONE are in no log: those that the last checkpoint in the tree does not hold are missing. So a legal state
     * is named by two numbers: c, what the checkpoint holds (every step up to c), and p >= c, where the log ends (of the steps
     * after c up to p, those that were logged). c is at least the last checkpoint known to have completed; p is at least the
     * last step that was promised to survive.
     *
     * What a kill left was not synced by it: until something is, a later loss of power may still end in any state that it could have
     * ended in before the kill. Those states are remembered by their hashes.
     *
     * States are compared by a hash that a step updates in constant time, and by their contents when the hashes agree.
     */
    private record Step(List<Write> writes, int[] keys, long[] hashes, Durability level) {}

    private final MergeOperator mergeOperator;
    private final List<Step> steps = new ArrayList<>();
    /** The numbers of the keys that the base or a step names. */
    private final TreeMap<byte[], Integer> numbers = newMap();
    private final TreeMap<byte[], byte[]> base = newMap();
    private final TreeMap<byte[], byte[]> now = newMap();
    private int survivesKill;
    private int survivesPowerLoss;
    private int checkpointed;
    private final Set<Long> unsyncedBeforeKill = new HashSet<>();

    /** An empty model; the operator may be null when nothing is merged. */
    public Model(MergeOperator mergeOperator) {
        this.mergeOperator = mergeOperator;
    }

    /** A map ordered as keys are. */
    public static <V> TreeMap<byte[], V> newMap() {
        return new TreeMap<>(Arrays::compareUnsigned);
    }

    /** A step is about to be taken; returns its number. The model's state contains it from now on. */
    public int begin(Durability level, List<Write> writes) {
        int[] keys = writes.stream().mapToInt(write -> number(write.key())).toArray();
        // What follows from a write alone is not found out again for each of the states that may be left.
        long[] hashes = writes.stream()
                .mapToLong(write -> write.kind() == Write.Kind.PUT ? hash(write.key(), write.value()) : 0)
                .toArray();
        Step step = new Step(List.copyOf(writes), keys, hashes, level);
        steps.add(step);
        apply(step);
        return steps.size();
    }

    private int number(byte[] key) {
        return numbers.computeIfAbsent(key, added -> numbers.size());
    }

    /** The store has returned from a step. */
    public void acknowledge(int step) {
        Durability level = steps.get(step - 1).level;
        if (level != Durability.NONE) {
            survivesKill = Math.max(survivesKill, step);
        }
        if (level == Durability.SYNC) {
            survivesPowerLoss = Math.max(survivesPowerLoss, step);
            unsyncedBeforeKill.clear();
        }
    }

    /** The last step taken is withdrawn: the store refused it, and promised that nothing of it has happened. */
    public void refuse() {
        steps.removeLast();
        now.clear();
        now.putAll(base);
        steps.forEach(this::apply);
    }

    /** A sync has returned that began after the last step was acknowledged. */
    public void synced() {
        survivesPowerLoss = survivesKill;
        unsyncedBeforeKill.clear();
    }

    /** A checkpoint, or a close, has returned that began after the last step was acknowledged. */
    public void checkpointed() {
        checkpointed = steps.size();
        survivesKill = checkpointed;
        survivesPowerLoss = checkpointed;
        unsyncedBeforeKill.clear();
    }

    /** The state after every step; a view. */
    public NavigableMap<byte[], byte[]> now() {
        return Collections.unmodifiableNavigableMap(now);
    }

    /** A copy of the state after every step, which is what a snapshot taken now must show for ever. */
    public NavigableMap<byte[], byte[]> snapshot() {
        return new TreeMap<>(now);
    }

    /** Says why the store may not contain {@code found} after a crash now; null when it may. */
    public String explain(CrashKind kind, NavigableMap<byte[], byte[]> found) {
        int floor = kind == CrashKind.KILL ? survivesKill : survivesPowerLoss;
        long hash = hash(found);
        if (kind == CrashKind.POWER_LOSS && unsyncedBeforeKill.contains(hash)) {
            return null;
        }
        if (anyState(floor, state -> state.hash == hash && difference(state.map(), found) == null)) {
            return null;
        }
        return "after " + kind + " the store holds " + found.size() + " keys, which is no state it may have: steps 1.." + floor
                + " of " + steps.size() + " had to survive; against the state after all steps: "
                + difference(now, found);
    }

    /** Whether a state passes that a checkpoint and a log name which ends at or after {@code floor}. */
    private boolean anyState(int floor, Predicate<Candidate> test) {
        Candidate checkpoint = new Candidate(base);
        for (int c = 0; c <= steps.size(); c++) {
            if (c > 0) {
                checkpoint.apply(steps.get(c - 1));
            }
            boolean distinct = c == checkpointed || c > 0 && steps.get(c - 1).level == Durability.NONE;
            if (c >= checkpointed && distinct && anyEnd(new Candidate(checkpoint), c, floor, test)) {
                return true;
            }
        }
        return false;
    }

    /** Whether a state passes to which a log leads from a checkpoint. */
    private boolean anyEnd(Candidate state, int c, int floor, Predicate<Candidate> test) {
        for (int p = c; p <= steps.size(); p++) {
            if (p > c && steps.get(p - 1).level != Durability.NONE) {
                state.apply(steps.get(p - 1));
            }
            if (p >= floor && test.test(state)) {
                return true;
            }
        }
        return false;
    }

    /** Makes what was found after a crash the state from which everything goes on; after a loss of power it is durable. */
    public void adopt(CrashKind kind, NavigableMap<byte[], byte[]> found) {
        if (kind == CrashKind.KILL) {
            rememberUnsynced();
        } else {
            unsyncedBeforeKill.clear();
        }
        steps.clear();
        numbers.clear();
        base.clear();
        base.putAll(found);
        now.clear();
        now.putAll(base);
        survivesKill = 0;
        survivesPowerLoss = 0;
        checkpointed = 0;
    }

    /**
     * Whether a key may have this value when a range with it was discarded: its value, or what the last of its operands make of
     * nothing, when the tree held them in another place than what they are to be applied to. What the operands were that a value
     * was made of before the last crash is not known: any end of it may be one.
     */
    public boolean mayBeLeft(byte[] key, byte[] value) {
        if (Arrays.equals(value, now.get(key))) {
            return true;
        }
        List<Write> writes = steps.stream()
                .flatMap(step -> step.writes.stream())
                .filter(write -> Arrays.equals(write.key(), key))
                .toList();
        List<byte[]> operands = new ArrayList<>();
        for (Write write : writes.reversed()) {
            if (write.kind() != Write.Kind.MERGE) {
                return false;
            }
            operands.addFirst(write.value());
            if (Arrays.equals(value, mergeOperator.merge(key, null, operands))) {
                return true;
            }
        }
        byte[] whole = base.getOrDefault(key, new byte[0]);
        for (int cut = 1; cut < whole.length; cut++) {
            byte[] end = Arrays.copyOfRange(whole, cut, whole.length);
            byte[] made = operands.isEmpty() ? end : mergeOperator.merge(key, end, operands);
            if (Arrays.equals(value, made)) {
                return true;
            }
        }
        return false;
    }

    /** A range was let go and a checkpoint completed, which leaves what was found. */
    public void discarded(NavigableMap<byte[], byte[]> found) {
        adopt(CrashKind.POWER_LOSS, found);
    }

    /** Adds every state that a loss of power may leave now. */
    private void rememberUnsynced() {
        anyState(survivesPowerLoss, state -> {
            unsyncedBeforeKill.add(state.hash);
            return false;
        });
    }

    /** The first key in which two maps differ, described; null when they are equal. */
    public static String difference(NavigableMap<byte[], byte[]> expected, NavigableMap<byte[], byte[]> found) {
        TreeMap<byte[], Boolean> keys = newMap();
        expected.keySet().forEach(key -> keys.put(key, true));
        found.keySet().forEach(key -> keys.put(key, true));
        for (byte[] key : keys.keySet()) {
            byte[] e = expected.get(key);
            byte[] f = found.get(key);
            if (!Arrays.equals(e, f)) {
                return "key " + Write.text(key) + " should have " + Write.text(e) + ", has " + Write.text(f);
            }
        }
        return null;
    }

    private void apply(Step step) {
        step.writes.forEach(write -> write.applyIn(now, mergeOperator));
    }

    /** A hash of contents that does not depend on the order of changes: the sum of those of all keys. */
    private static long hash(NavigableMap<byte[], byte[]> map) {
        long hash = 0;
        for (var entry : map.entrySet()) {
            hash += hash(entry.getKey(), entry.getValue());
        }
        return hash;
    }

    private static long hash(byte[] key, byte[] value) {
        long h = Arrays.hashCode(key) * 0x9E3779B97F4A7C15L + Arrays.hashCode(value);
        h ^= h >>> 29;
        return h * 0xD6E8FEB86659FD93L;
    }

    /** A state that is one of many: the value of each key by the key's number, since looking keys up is most of the work otherwise. */
    private final class Candidate {
        private final byte[][] values;
        /** What each key adds to the hash. */
        private final long[] parts;

        private long hash;

        Candidate(NavigableMap<byte[], byte[]> map) {
            map.keySet().forEach(Model.this::number);
            values = new byte[numbers.size()][];
            parts = new long[values.length];
            map.forEach((key, value) -> put(number(key), value, hash(key, value)));
        }

        Candidate(Candidate other) {
            values = other.values.clone();
            parts = other.parts.clone();
            hash = other.hash;
        }

        void apply(Step step) {
            for (int i = 0; i < step.keys.length; i++) {
                Write write = step.writes.get(i);
                byte[] value = write.applyTo(values[step.keys[i]], mergeOperator);
                boolean isMade = write.kind() == Write.Kind.MERGE && value != null;
                put(step.keys[i], value, isMade ? hash(write.key(), value) : step.hashes[i]);
            }
        }

        private void put(int number, byte[] value, long part) {
            hash += part - parts[number];
            parts[number] = part;
            values[number] = value;
        }

        NavigableMap<byte[], byte[]> map() {
            TreeMap<byte[], byte[]> map = newMap();
            numbers.forEach((key, number) -> {
                if (values[number] != null) {
                    map.put(key, values[number]);
                }
            });
            return map;
        }
    }
}
