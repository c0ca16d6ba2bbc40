package dev.heartwood.engine.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A directory for one test, on the disk that holds the build, since a temporary file system may refuse O_DIRECT. */
record TestDirectory(Path path) implements AutoCloseable {
    static TestDirectory make() {
        try {
            Path target = Files.createDirectories(Path.of("target"));
            return new TestDirectory(Files.createTempDirectory(target, "device").toAbsolutePath());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        try (Stream<Path> paths = Files.walk(path)) {
            for (Path p : paths.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(p);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Descriptors of this process that are queues or files below a directory; the JVM opens and closes others. */
    static long openDescriptors(Path below) {
        try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
            return descriptors.filter(descriptor -> isOurs(descriptor, below)).count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isOurs(Path descriptor, Path below) {
        try {
            Path target = Files.readSymbolicLink(descriptor);
            return target.startsWith(below.toAbsolutePath()) || target.toString().contains("[io_uring]");
        } catch (IOException e) {
            return false; // closed since it was listed
        }
    }
}
