package dev.heartwood.kafka.cluster;

import java.util.concurrent.TimeUnit;

/** How far a command is: on a terminal one line, written over again and again; elsewhere a line every ten seconds. One thread. */
final class ProgressLine {
    private static final int WIDTH = 70;
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(10);
    private static final boolean IS_TERMINAL = System.console() != null && System.console().isTerminal();

    private static long printedNanos = System.nanoTime();

    private ProgressLine() {}

    static void show(String format, Object... arguments) {
        String text = format.formatted(arguments);
        if (IS_TERMINAL) {
            System.out.print("\r" + text + " ".repeat(Math.max(0, WIDTH - text.length())));
            System.out.flush();
        } else if (System.nanoTime() - printedNanos > QUIET_NANOS) {
            printedNanos = System.nanoTime();
            System.out.println(text);
        }
    }

    static void clear() {
        if (IS_TERMINAL) {
            System.out.print("\r" + " ".repeat(WIDTH) + "\r");
            System.out.flush();
        }
    }
}
