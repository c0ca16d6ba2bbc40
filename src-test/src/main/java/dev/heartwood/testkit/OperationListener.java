package dev.heartwood.testkit;

/** Watches the operations of a {@link SimulatedMachine}; called before each one takes effect, by the thread that asked for it. */
@FunctionalInterface
public interface OperationListener {
    /**
     * One operation is about to take effect. The listener may take a crash image of the machine.
     *
     * @param kind what it is
     * @param ordinal how many operations of any kind came before it
     * @param path the file or directory
     */
    void before(OperationKind kind, long ordinal, String path);
}
