package dev.heartwood.engine.store;

import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.spi.StoreProvider;

/** What {@link java.util.ServiceLoader} finds. */
public final class EngineProvider implements StoreProvider {
    /** For the service loader. */
    public EngineProvider() {}

    @Override
    public Environment openEnvironment(EnvironmentOptions options) {
        return EngineEnvironment.open(options);
    }
}
