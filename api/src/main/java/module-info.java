/** The public interface of Heartwood. It needs the JDK only; the engine is found through {@link java.util.ServiceLoader}. */
module dev.heartwood {
    exports dev.heartwood;
    exports dev.heartwood.spi;

    uses dev.heartwood.spi.StoreProvider;
}
