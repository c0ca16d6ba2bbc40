package dev.heartwood.kafka;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * How much this process holds of what a leak would add to.
 *
 * @param files open files and directories of stores
 * @param rings io_uring instances; an environment keeps a few for as long as it lives
 * @param mappings mapped files of stores
 * @param threads background threads
 */
record HeldResources(long files, long rings, long mappings, long threads) {
    static HeldResources now() throws IOException {
        return count(line -> true);
    }

    /** As {@link #now} without what is mapped of a store that stays open, which makes spare log segments when it likes. */
    static HeldResources besides(Path store) throws IOException {
        return count(line -> !line.contains(store + "/"));
    }

    private static HeldResources count(Predicate<String> isCounted) throws IOException {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"));
                Stream<String> mappings = Files.lines(Path.of("/proc/self/maps"))) {
            long ofStores = mappings.filter(line -> line.contains("log-") || line.contains(".hw"))
                    .filter(isCounted)
                    .count();
            List<String> open = descriptors.map(HeldResources::target).toList();
            long files = open.stream().filter(target -> target.contains("/heartwood")).count();
            long rings = open.stream().filter(target -> target.contains("io_uring")).count();
            return new HeldResources(files, rings, ofStores, workers());
        }
    }

    /** What a descriptor leads to; nothing when it has been closed meanwhile. */
    private static String target(Path descriptor) {
        try {
            return Files.readSymbolicLink(descriptor).toString();
        } catch (IOException e) {
            return "";
        }
    }

    /** The same without the rings that an open environment may have made for threads that call at once. */
    HeldResources withoutRings() {
        return new HeldResources(files, 0, mappings, threads);
    }

    /** The system knows a thread for a moment longer than who has waited for its end. */
    private static long workers() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith("heartwood"))
                .count();
    }
}
