package dev.heartwood.bench;

import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.StoreOptions;
import dev.heartwood.bench.BenchOptions.Count;
import dev.heartwood.bench.engine.EngineKind;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.StringJoiner;

/** Those that a command line compares: engines, or Heartwood under every combination of the settings that it names. */
final class Contestants {
    private final BenchOptions options;

    /**
     * One combination.
     *
     * @param share memory in the data, in percent; 0 for what {@code --memory} says
     */
    private record Choice(CompactionPolicyKind policy, int distance, Count records, int share, int stores) {}

    Contestants(BenchOptions options) {
        this.options = options;
    }

    /** All of them, in the order given. */
    List<Contestant> all() {
        if (!options.comparesSettings()) {
            return options.engines.stream()
                    .map(kind -> new Contestant(kind.toString(), kind, options.settings(kind)))
                    .toList();
        }
        return choices().stream().map(this::contestant).toList();
    }

    private List<Choice> choices() {
        StoreOptions.Builder builder = StoreOptions.builder();
        options.options.forEach(builder::set);
        StoreOptions given = builder.build();
        List<Choice> all = new ArrayList<>();
        for (CompactionPolicyKind policy : options.policies.isEmpty() ? List.of(given.policy()) : options.policies) {
            for (int distance : options.distances.isEmpty() ? List.of(given.checkpointDistance()) : options.distances) {
                for (Count count : options.counts()) {
                    for (int share : options.shares.isEmpty() ? List.of(0) : options.shares) {
                        options.stores.forEach(stores -> all.add(new Choice(policy, distance, count, share, stores)));
                    }
                }
            }
        }
        return all;
    }

    private Contestant contestant(Choice choice) {
        Map<String, String> chosen = new LinkedHashMap<>(options.options);
        StringJoiner name = new StringJoiner("-");
        if (!options.policies.isEmpty() || !options.distances.isEmpty()) {
            chosen.put(BenchOptions.POLICY, choice.policy().name());
            chosen.put(BenchOptions.CHECKPOINT_DISTANCE, Integer.toString(choice.distance()));
            name.add(choice.policy().name().toLowerCase(Locale.ROOT)).add(Integer.toString(choice.distance()));
        }
        if (!options.sizes.isEmpty()) {
            name.add(choice.records().inMillions());
        }
        if (!options.shares.isEmpty()) {
            name.add(choice.share() + "pc");
        }
        if (options.stores.size() > 1) {
            name.add(choice.stores() == 1 ? "1-store" : choice.stores() + "-stores");
        }
        long count = choice.records().value();
        long bytes = options.shares.isEmpty() ? options.memoryBytes(count) : options.memoryBytesOf(count, choice.share());
        return new Contestant(
                name.toString(),
                EngineKind.HEARTWOOD,
                options.settings(name.toString(), choice.stores(), chosen, count, bytes));
    }
}
