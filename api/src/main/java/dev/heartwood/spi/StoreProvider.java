package dev.heartwood.spi;

import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;

/** Makes environments; implemented by the engine and found through {@link java.util.ServiceLoader}. */
public interface StoreProvider {
    /**
     * Opens an environment.
     *
     * @throws dev.heartwood.StoreException when the machine refuses the memory
     */
    Environment openEnvironment(EnvironmentOptions options);
}
