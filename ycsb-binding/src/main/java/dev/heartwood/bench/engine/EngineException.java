package dev.heartwood.bench.engine;

/** An engine failed an operation. */
public final class EngineException extends RuntimeException {
    private static final long serialVersionUID = 1;

    /** The operation that failed, and why. */
    public EngineException(String operation, Throwable cause) {
        super(operation + " failed: " + cause.getMessage(), cause);
    }
}
