package dev.heartwood.bench.process;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;

/**
 * What an engine's process answers when it has failed.
 *
 * @param text one line for the driver
 * @param leavesStack whether this is no plain refusal, so that people are to have its stack
 */
record FailureAnswer(String text, boolean leavesStack) {
    /** What HotSpot says of a heap that is full, in contrast to threads or native memory, of which a larger heap leaves less. */
    private static final String HEAP_IS_FULL = "Java heap space";

    static FailureAnswer of(Throwable failure) {
        if (failure instanceof PhaseRun.NoMemoryForThreadsException) {
            return new FailureAnswer(oneLine(failure.getMessage() + advice(failure.getCause())), false);
        }
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof NoSpaceException) {
                return new FailureAnswer(oneLine(cause.getMessage()), false);
            }
        }
        boolean isRefusal = failure instanceof IllegalStateException || failure instanceof InsufficientMemoryException;
        if (isRefusal && failure.getCause() == null && failure.getMessage() != null) {
            return new FailureAnswer(oneLine(failure.getMessage()), false);
        }
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        String text = root == failure ? failure.toString() : failure + " because of " + root;
        return new FailureAnswer(oneLine(text + advice(root)), true);
    }

    private static String advice(Throwable root) {
        return root instanceof OutOfMemoryError && HEAP_IS_FULL.equals(root.getMessage())
                ? "; HEARTWOOD_JAVA_OPTS=-Xmx" + (2 * Runtime.getRuntime().maxMemory() >> 20) + "m gives each engine's JVM more"
                : "";
    }

    private static String oneLine(String text) {
        return text.replace('\n', ' ');
    }
}
