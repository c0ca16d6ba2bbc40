package dev.heartwood.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * The differential test: random operations on a store and on the {@link Model}, every answer compared. A run that fails is cut
 * down to the few operations that matter.
 */
public final class Differential {
    /**
     * How large the keys and values of a run are.
     *
     * @param keys how many different keys are written
     * @param keyBytesMax the longest key
     * @param valueBytesMax the longest value
     */
    public record Sizes(int keys, int keyBytesMax, int valueBytesMax) {
        /** Enough of everything to make a small tree busy. */
        public static final Sizes USUAL = new Sizes(1500, 1 << 16, 200_000);
    }

    private record Failure(int operation, Throwable cause) {}

    private Differential() {}

    /**
     * Runs one seed; throws an {@link AssertionError} that lists the shortest failing run found.
     *
     * @param seed stands for the whole run
     * @param operations how many
     * @param sizes of keys and values
     * @param hosts makes a host with an empty store
     */
    public static void run(long seed, int operations, Sizes sizes, Supplier<? extends StoreHost> hosts) {
        List<Operation> list = Operation.list(seed, operations);
        KeySpace space = new KeySpace(seed, sizes.keys, sizes.keyBytesMax, sizes.valueBytesMax);
        Failure failure = attempt(list, space, seed, hosts);
        if (failure != null) {
            int shrinks = Integer.getInteger("heartwood.shrinks", 60);
            List<Operation> prefix = list.subList(0, Math.min(failure.operation + 1, list.size()));
            throw report(seed, failure, shrink(prefix, shrinks, space, seed, hosts));
        }
    }

    /** Runs the operations that bytes stand for, two for each: what is done, and what decides the rest. */
    public static void runStream(byte[] stream, Sizes sizes, Supplier<? extends StoreHost> hosts) {
        Operation.Action[] actions = Operation.Action.values();
        List<Operation> list = new ArrayList<>();
        for (int i = 0; i + 1 < stream.length; i += 2) {
            list.add(new Operation(actions[(stream[i] & 0xff) % actions.length], stream[i + 1] + 256L * (i % 8)));
        }
        KeySpace space = new KeySpace(1, sizes.keys, sizes.keyBytesMax, sizes.valueBytesMax);
        Failure failure = attempt(list, space, 1, hosts);
        if (failure != null) {
            throw report(1, failure, list);
        }
    }

    private static Failure attempt(
            List<Operation> operations, KeySpace space, long seed, Supplier<? extends StoreHost> hosts) {
        int i = -1;
        try (StoreHost host = hosts.get();
                DifferentialRun run = new DifferentialRun(host, space, seed)) {
            for (i = 0; i < operations.size(); i++) {
                run.execute(operations.get(i));
            }
            run.finish();
            return null;
        } catch (Throwable cause) {
            return new Failure(i, cause);
        }
    }

    /** Leaves out ever smaller pieces as long as the rest still fails. */
    private static List<Operation> shrink(
            List<Operation> failing, int attempts, KeySpace space, long seed, Supplier<? extends StoreHost> hosts) {
        List<Operation> best = failing;
        int left = attempts;
        for (int piece = best.size() / 2; piece > 0 && left > 0; piece /= 2) {
            for (int at = 0; at + piece <= best.size() && left > 0; left--) {
                List<Operation> shorter = new ArrayList<>(best.subList(0, at));
                shorter.addAll(best.subList(at + piece, best.size()));
                Failure failure = attempt(shorter, space, seed, hosts);
                if (failure == null) {
                    at += piece;
                } else {
                    best = shorter.subList(0, Math.min(failure.operation + 1, shorter.size()));
                }
            }
        }
        return best;
    }

    private static AssertionError report(long seed, Failure failure, List<Operation> shortest) {
        StringBuilder text = new StringBuilder("seed " + seed + ", operation " + failure.operation + ": " + failure.cause);
        text.append("\nfails with these ").append(shortest.size()).append(" operations alone:");
        shortest.stream().limit(40).forEach(o -> text.append("\n  ").append(o.action()).append(" ").append(o.seed()));
        return new AssertionError(text.toString(), failure.cause);
    }
}
