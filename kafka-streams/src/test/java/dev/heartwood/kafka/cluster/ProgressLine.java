package dev.heartwood.kafka.cluster;

/** The line that says how far a command is, written over again and again. */
final class ProgressLine {
    private static final int WIDTH = 70;

    private ProgressLine() {}

    static void show(String format, Object... arguments) {
        String text = format.formatted(arguments);
        System.out.print("\r" + text + " ".repeat(Math.max(0, WIDTH - text.length())));
        System.out.flush();
    }

    static void clear() {
        System.out.print("\r" + " ".repeat(WIDTH) + "\r");
        System.out.flush();
    }
}
