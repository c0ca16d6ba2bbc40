package dev.heartwood.lint;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What can be told from the files alone. */
class SourceLintTest {
    private static final long FILE_BYTES_MAX = 25_000;
    private static final Path ROOT = root();

    /** The checkout: the nearest folder upwards that has modules. */
    private static Path root() {
        Path path = Path.of("").toAbsolutePath();
        while (path != null && !Files.isRegularFile(path.resolve("api/pom.xml"))) {
            path = path.getParent();
        }
        return java.util.Objects.requireNonNull(path, "the checkout was not found");
    }

    private static List<Path> sources(String under) {
        List<Path> sources = new ArrayList<>();
        try (Stream<Path> modules = Files.list(ROOT)) {
            for (Path module : modules.sorted().toList()) {
                Path folder = module.resolve(under);
                if (Files.isDirectory(folder)) {
                    try (Stream<Path> files = Files.walk(folder)) {
                        files.filter(f -> f.toString().endsWith(".java")).forEach(sources::add);
                    }
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        assertTrue(!sources.isEmpty(), () -> "no sources found under " + ROOT);
        return sources;
    }

    private static void check(List<Path> files, String advice, BiConsumer<Path, List<String>> rule) {
        List<String> violations = new ArrayList<>();
        files.forEach(file -> rule.accept(file, violations));
        assertTrue(violations.isEmpty(), () -> advice + ":\n" + String.join("\n", violations));
    }

    private static void ban(List<Path> files, String word, String advice) {
        check(files, advice, (file, violations) -> {
            List<String> lines = lines(file);
            for (int i = 0; i < lines.size(); i++) {
                if (lines.get(i).contains(word)) {
                    violations.add(ROOT.relativize(file) + ":" + (i + 1) + ": " + lines.get(i).strip());
                }
            }
        });
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void filesAreSmall() {
        check(sources("src/main/java"), "split these files by responsibility", (file, violations) -> {
            long bytes = file.toFile().length();
            if (bytes > FILE_BYTES_MAX) {
                violations.add(ROOT.relativize(file) + " has " + bytes + " bytes, more than " + FILE_BYTES_MAX);
            }
        });
    }

    @Test
    void everyPackageSaysWhatItIs() {
        TreeSet<Path> packages = new TreeSet<>();
        sources("src/main/java").stream()
                .filter(f -> !f.endsWith("module-info.java"))
                .forEach(f -> packages.add(f.getParent()));
        check(List.copyOf(packages), "write a package-info.java, the package's README", (folder, violations) -> {
            if (!Files.exists(folder.resolve("package-info.java"))) {
                violations.add(ROOT.relativize(folder).toString());
            }
        });
    }

    @Test
    void nothingIsLeftOpen() {
        List<Path> all = new ArrayList<>(sources("src/main/java"));
        all.addAll(sources("src/test/java"));
        ban(all, "TO" + "DO", "finish it or leave it out");
        ban(all, "FIX" + "ME", "finish it or leave it out");
        ban(all, "@Dis" + "abled", "a test that does not run proves nothing; repair or remove it");
    }

    @Test
    void testsDoNotWaitForTheClock() {
        List<Path> tests = sources("src/test/java");
        ban(tests, "Thread.sl" + "eep", "wait for the condition itself: a latch, a barrier, a counter");
        ban(tests, "@Time" + "out", "a slow machine is no failure; leave the limit to the build");
        ban(tests, "assertTime" + "out", "a slow machine is no failure; leave the limit to the build");
    }
}
