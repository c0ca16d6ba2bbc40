package dev.heartwood.input;

import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;

/** A process that makes an environment of the least memory, and no store. */
final class FirstEnvironment {
    private FirstEnvironment() {}

    public static void main(String[] args) {
        EnvironmentOptions options = EnvironmentOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();
        try (Environment environment = Heartwood.openEnvironment(options)) {
            System.out.println(environment.memoryStats().budgetBytes());
        }
    }
}
