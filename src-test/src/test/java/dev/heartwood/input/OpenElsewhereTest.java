package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import dev.heartwood.KeyValueStore;
import dev.heartwood.LockedException;
import dev.heartwood.StoreOptions;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.TestDirectory;
import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A store that is open cannot be opened again: not in this JVM, from another class loader or process, through a symbolic link, nor
 * by hard links to its files. Who tries changes no file and learns who has it.
 */
class OpenElsewhereTest {
    private static final StoreOptions OPTIONS =
            StoreOptions.builder().memory(EnvironmentOptions.MEMORY_MIN).build();

    private final TestDirectory parent = new TestDirectory("elsewhere");
    private final Path directory = parent.path().resolve("store");
    private KeyValueStore store;
    private Map<String, byte[]> before;

    /** The other process: tries to open a store, and says how that ended. */
    static final class Opener {
        private Opener() {}

        /** Argument: the directory. */
        public static void main(String[] args) {
            System.out.print(attempt(args[0]));
        }

        /** Opens the store; returns the process that has it, or what else came of it. */
        public static String attempt(String path) {
            try {
                Heartwood.open(Path.of(path), OPTIONS).close();
                return "opened";
            } catch (LockedException locked) {
                return "locked by " + locked.pid();
            }
        }
    }

    @BeforeEach
    void openStore() throws IOException {
        store = Heartwood.open(directory, OPTIONS);
        store.put(new byte[] {1}, new byte[] {2});
        store.checkpoint();
        before = files(directory);
    }

    @AfterEach
    void nothingWasTouched() throws IOException {
        Map<String, byte[]> after = files(directory);
        // The store that is open makes the next segment of its log ready when it has time to.
        after.keySet().removeIf(name -> name.startsWith("log-") && !before.containsKey(name));
        assertEquals(before.keySet(), after.keySet());
        before.forEach((name, contents) -> assertArrayEquals(contents, after.get(name), name));
        assertArrayEquals(new byte[] {2}, store.get(new byte[] {1}));
        store.close();
        parent.close();
    }

    private static Map<String, byte[]> files(Path directory) throws IOException {
        Map<String, byte[]> files = new TreeMap<>();
        try (Stream<Path> list = Files.list(directory)) {
            for (Path file : list.toList()) {
                files.put(file.getFileName().toString(), Files.readAllBytes(file));
            }
        }
        return files;
    }

    private static String lockedByThisProcess() {
        return "locked by " + ProcessHandle.current().pid();
    }

    @Test
    void notInTheSameJvm() {
        assertEquals(lockedByThisProcess(), Opener.attempt(directory.toString()));
    }

    @Test
    void notThroughASymbolicLink() throws IOException {
        Path link = Files.createSymbolicLink(parent.path().resolve("link"), directory);
        assertEquals(lockedByThisProcess(), Opener.attempt(link.toString()));
    }

    @Test
    void notByHardLinksToItsFiles() throws IOException {
        Path copy = Files.createDirectory(parent.path().resolve("copy"));
        for (String name : before.keySet()) {
            Files.createLink(copy.resolve(name), directory.resolve(name));
        }
        assertEquals(lockedByThisProcess(), Opener.attempt(copy.toString()));
    }

    @Test
    void notByAHardLinkToItsDataAlone() throws IOException {
        Path copy = Files.createDirectory(parent.path().resolve("copy"));
        Files.createLink(copy.resolve("data.hw"), directory.resolve("data.hw"));
        assertThrows(LockedException.class, () -> Heartwood.open(copy, OPTIONS));
    }

    @Test
    void notFromAnotherProcess() {
        JavaProcess.Ended ended =
                JavaProcess.of(Opener.class, directory.toString()).run(parent.path().resolve("output"));
        assertTrue(ended.output().endsWith(lockedByThisProcess()), ended::output);
    }

    @Test
    void notFromAnotherClassLoader() throws Exception {
        List<URL> classPath = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator)) {
            classPath.add(url(entry));
        }
        try (URLClassLoader loader = new URLClassLoader(
                classPath.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
            Class<?> opener = loader.loadClass(Opener.class.getName());
            assertTrue(opener != Opener.class, "the same class");
            Method attempt = opener.getMethod("attempt", String.class);
            attempt.setAccessible(true);
            assertEquals(lockedByThisProcess(), invoke(attempt));
        }
    }

    private Object invoke(Method attempt) throws IllegalAccessException {
        try {
            return attempt.invoke(null, directory.toString());
        } catch (InvocationTargetException e) {
            throw new AssertionError(e.getCause());
        }
    }

    private static URL url(String entry) {
        try {
            return Path.of(entry).toUri().toURL();
        } catch (MalformedURLException e) {
            throw new AssertionError(e);
        }
    }
}
