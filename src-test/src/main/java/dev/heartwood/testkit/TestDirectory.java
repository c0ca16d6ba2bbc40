package dev.heartwood.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A new directory under {@code target}, which is on a disk where {@code /tmp} may be in memory; removed at the end. */
public final class TestDirectory implements AutoCloseable {
    private final Path path;

    /** Makes a directory whose name begins with {@code name}. */
    public TestDirectory(String name) {
        try {
            Path parent = Files.createDirectories(Path.of("target", "stores").toAbsolutePath());
            path = Files.createTempDirectory(parent, name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where it is. */
    public Path path() {
        return path;
    }

    /** Removes the directory and all that is in it. */
    @Override
    public void close() {
        try (Stream<Path> files = Files.walk(path)) {
            List<Path> deepestFirst = files.sorted(Comparator.reverseOrder()).toList();
            for (Path file : deepestFirst) {
                Files.deleteIfExists(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
