package dev.heartwood.engine.store;

import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.base.Randomness;
import dev.heartwood.engine.task.ThreadWorkers;
import dev.heartwood.engine.task.Workers;
import java.util.function.IntFunction;

/**
 * What an environment takes from outside beside its storages; with other ones than the machine's, a run repeats exactly.
 *
 * @param workers makes the background workers, given their number
 * @param clock the time
 * @param randomness identities of new stores
 * @param processors how many threads are expected to write at once
 */
public record Surroundings(IntFunction<Workers> workers, Clock clock, Randomness randomness, int processors) {
    /** Those of the running machine. */
    public static Surroundings ofMachine() {
        return new Surroundings(
                count -> new ThreadWorkers("heartwood", count),
                Clock.SYSTEM,
                Randomness.SYSTEM,
                Runtime.getRuntime().availableProcessors());
    }
}
