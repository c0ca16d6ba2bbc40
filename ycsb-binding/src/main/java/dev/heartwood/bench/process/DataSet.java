package dev.heartwood.bench.process;

import dev.heartwood.bench.engine.EngineSettings;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A store on disk and the file beside it that tells what is in it: how many records, of which shape, and how many of them were
 * loaded. That file also says that the benchmark made the store and may delete it.
 */
public final class DataSet {
    /** Ends the names of stores that are deleted once what they were made for is over. */
    static final String SEQUENTIAL_SUFFIX = "-sequential";

    /** As {@link #SEQUENTIAL_SUFFIX}. */
    static final String WARM_UP_SUFFIX = "-warmup";

    private static final String NOTE_SUFFIX = ".properties";
    private static final String LOADED = "loaded";

    private final Path directory;
    private final Path note;
    private final String shape;
    private final String loaded;

    DataSet(EngineSettings settings) {
        this(settings.directory(), shape(settings), Long.toString(settings.records()));
    }

    private static String shape(EngineSettings settings) {
        String bytes = settings.keyBytes() + "+" + settings.valueBytes();
        return settings.stores() == 1 ? bytes : bytes + " in " + settings.stores();
    }

    private DataSet(Path directory, String shape, String loaded) {
        this.directory = directory;
        this.shape = shape;
        this.loaded = loaded;
        note = directory.resolveSibling(directory.getFileName() + NOTE_SUFFIX);
    }

    /** Deletes the store in a directory and those that were made beside it, if the benchmark made them. */
    public static void delete(Path directory) {
        String name = directory.getFileName().toString();
        delete(directory.getParent(), store -> store.equals(name) || isPassingBeside(name, store));
    }

    /** Deletes those that were made beside the store in a directory, which stays. */
    public static void deletePassingBeside(Path directory) {
        String name = directory.getFileName().toString();
        delete(directory.getParent(), store -> isPassingBeside(name, store));
    }

    /** The names of other engines may begin like this one, too. */
    private static boolean isPassingBeside(String name, String store) {
        return Stream.of(WARM_UP_SUFFIX, SEQUENTIAL_SUFFIX, WARM_UP_SUFFIX + SEQUENTIAL_SUFFIX).anyMatch(suffix -> store.equals(name + suffix));
    }

    private static void delete(Path parent, Predicate<String> wanted) {
        if (!Files.isDirectory(parent)) {
            return;
        }
        try (Stream<Path> entries = Files.list(parent)) {
            for (Path entry : entries.toList()) {
                String name = entry.getFileName().toString();
                String store = name.endsWith(NOTE_SUFFIX) ? name.substring(0, name.length() - NOTE_SUFFIX.length()) : "";
                if (!store.isEmpty() && wanted.test(store) && isNote(entry)) {
                    new DataSet(parent.resolve(store), "", "").delete();
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Records that a load has completed, and inserts since; 0 when there are none of this shape. */
    long records() {
        if (!Files.exists(note)) {
            return 0;
        }
        Properties properties = read(note);
        return shape.equals(properties.getProperty("shape")) ? Long.parseLong(properties.getProperty("records")) : 0;
    }

    /**
     * Refuses a store that was loaded with another number of records than the settings', from which memory and facts are reckoned.
     *
     * @throws IllegalStateException naming both
     */
    void requireLoadedAsSet() {
        String found = read(note).getProperty(LOADED, loaded); // an older note does not tell
        if (!found.equals(loaded)) {
            throw new IllegalStateException(directory + " was loaded with " + found + " records and not with " + loaded
                    + "; give --records " + found + ", or run phase load first");
        }
    }

    private static Properties read(Path file) {
        Properties properties = new Properties();
        try (Reader reader = Files.newBufferedReader(file)) {
            properties.load(reader);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return properties;
    }

    private static boolean isNote(Path file) {
        Set<String> names = read(file).stringPropertyNames();
        return names.containsAll(Set.of("shape", "records")) && Set.of("shape", "records", LOADED).containsAll(names);
    }

    /** Notes that the store holds records 0 to {@code records} - 1; of how many were loaded, the note says what it said, or nothing. */
    void note(long records) {
        Properties properties = read(note);
        properties.setProperty("records", Long.toString(records));
        write(properties);
    }

    private void write(Properties properties) {
        try (Writer writer = Files.newBufferedWriter(note)) {
            properties.store(writer, "made by heartwood bench, which may delete the directory of this name");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * Makes an empty directory, deleting what an earlier run left.
     *
     * @throws IllegalStateException when something is there that the benchmark did not make
     */
    void makeEmpty() {
        delete();
        try {
            Files.createDirectories(directory);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Properties properties = new Properties();
        properties.setProperty("shape", shape);
        properties.setProperty("records", "0");
        properties.setProperty(LOADED, loaded);
        write(properties);
    }

    /** Deletes the store and the note, when the benchmark made them. */
    void delete() {
        try {
            if (Files.exists(directory) && !Files.exists(note) && !isEmpty()) {
                throw new IllegalStateException(directory + " is not empty and was not made by this benchmark");
            }
            if (Files.exists(directory)) {
                for (Path path : contents()) {
                    Files.delete(path);
                }
            }
            Files.deleteIfExists(note);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean isEmpty() throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.findAny().isEmpty();
        }
    }

    private List<Path> contents() throws IOException {
        try (Stream<Path> paths = Files.walk(directory)) {
            return paths.sorted(Comparator.reverseOrder()).toList();
        }
    }

    /** Space the store takes, holes not counted; it may make and delete files meanwhile. */
    long diskBytes() throws InterruptedException {
        try {
            Process du = new ProcessBuilder("du", "-sk", directory.toString())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String answer = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (du.waitFor() == 0) {
                return Long.parseLong(answer.substring(0, answer.indexOf('\t'))) << 10;
            }
            // Which it also says when a file was deleted meanwhile.
            return fileLengths();
        } catch (IOException withoutDu) {
            return fileLengths();
        }
    }

    long fileLengths() {
        long[] bytes = {0};
        try {
            Files.walkFileTree(directory, new SimpleFileVisitor<>() {
                @Override
                public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                    bytes[0] += attributes.isRegularFile() ? attributes.size() : 0;
                    return FileVisitResult.CONTINUE;
                }

                @Override
                public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
                    if (e instanceof NoSuchFileException && !file.equals(directory)) {
                        return FileVisitResult.CONTINUE;
                    }
                    throw e;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes[0];
    }
}
