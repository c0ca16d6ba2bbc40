/**
 * The storage engine. It exports nothing: it is reached through {@code dev.heartwood}, which finds it by its service.
 */
module dev.heartwood.engine {
    requires dev.heartwood;
    requires static org.jnrproject.ffi;

    provides dev.heartwood.spi.StoreProvider with
            dev.heartwood.engine.store.EngineProvider;
}
