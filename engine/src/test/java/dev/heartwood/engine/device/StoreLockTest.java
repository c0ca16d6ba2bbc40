package dev.heartwood.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.DeviceKind;
import dev.heartwood.LockedException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.os.FileCalls;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.reflect.InvocationTargetException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A store opens once, by whatever way it is reached. */
class StoreLockTest {
    private static final long PID = ProcessHandle.current().pid();

    private final TestDirectory directory = TestDirectory.make();
    private final Path path = directory.path().resolve("store");

    @AfterEach
    void close() {
        directory.close();
    }

    private static FileStorage storage(Path path) {
        return new FileStorage(path, DeviceKind.POSIX, IoMode.DIRECT);
    }

    private static void assertLocked(Path path) {
        try (FileStorage second = storage(path)) {
            LockedException e = assertThrows(LockedException.class, second::lock);
            assertEquals(PID, e.pid());
        }
    }

    @Test
    void refusesTheSameProcess() {
        try (FileStorage first = storage(path)) {
            first.lock();
            assertLocked(path);
            assertLocked(path);
        }
        try (FileStorage again = storage(path)) {
            again.lock();
        }
    }

    /** A process that is about to be started has copies of all descriptors, and the lock went on until it had let go of them. */
    @Test
    void aStoreThatWasClosedIsFreeWhoeverHasItsDescriptors() throws Throwable {
        List<Integer> copies = new ArrayList<>();
        try (FileStorage first = storage(path)) {
            first.lock();
            try (BlockDevice device = first.openDevice("data", true)) {
                for (int descriptor : descriptors()) {
                    copies.add(duplicate(descriptor));
                }
                assertEquals(2, copies.size());
                device.sync();
            }
        }
        try (FileStorage again = storage(path)) {
            again.lock();
            again.openDevice("data", false).close();
        } finally {
            copies.forEach(FileCalls::close);
        }
    }

    /** Those of the lock and of the data. */
    private List<Integer> descriptors() throws IOException {
        List<Integer> found = new ArrayList<>();
        for (String name : List.of("LOCK", "data")) {
            Path file = path.resolve(name).toRealPath();
            for (File descriptor : new File("/proc/self/fd").listFiles()) {
                if (Files.isSymbolicLink(descriptor.toPath()) && Files.readSymbolicLink(descriptor.toPath()).equals(file)) {
                    found.add(Integer.valueOf(descriptor.getName()));
                }
            }
        }
        return found;
    }

    @SuppressWarnings("restricted")
    private static int duplicate(int descriptor) throws Throwable {
        Linker linker = Linker.nativeLinker();
        return (int) linker.downcallHandle(
                        linker.defaultLookup().find("dup").orElseThrow(),
                        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                .invokeExact(descriptor);
    }

    @Test
    void refusesASymbolicLink() throws IOException {
        Path link = Files.createSymbolicLink(directory.path().resolve("link"), path);
        try (FileStorage first = storage(path)) {
            first.lock();
            assertLocked(link);
        }
    }

    @Test
    void refusesHardLinksOfTheFiles() throws IOException {
        Path copy = Files.createDirectory(directory.path().resolve("copy"));
        Path other = Files.createDirectory(directory.path().resolve("other"));
        try (FileStorage first = storage(path)) {
            first.lock();
            try (BlockDevice device = first.openDevice("data", true)) {
                Files.createLink(copy.resolve("LOCK"), path.resolve("LOCK"));
                assertLocked(copy);
                // The data file alone, beside a lock file of its own.
                Files.createLink(other.resolve("data"), path.resolve("data"));
                try (FileStorage second = storage(other)) {
                    second.lock();
                    assertThrows(LockedException.class, () -> second.openDevice("data", false));
                }
                assertEquals(0, device.size());
            }
        }
    }

    @Test
    void closingOtherDescriptorsKeepsTheLock() throws IOException {
        try (FileStorage first = storage(path)) {
            first.lock();
            Files.readString(path.resolve("LOCK"));
            first.readFile("LOCK", 10);
            assertLocked(path);
        }
    }

    @Test
    void refusesAnotherClassLoader() throws Exception {
        URL[] urls = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(entry -> {
                    try {
                        return Path.of(entry).toUri().toURL();
                    } catch (IOException e) {
                        throw new java.io.UncheckedIOException(e);
                    }
                })
                .toArray(URL[]::new);
        try (FileStorage first = storage(path);
                URLClassLoader loader = new URLClassLoader(urls, ClassLoader.getPlatformClassLoader())) {
            first.lock();
            Class<?> opener = loader.loadClass(Opener.class.getName());
            var open = opener.getDeclaredMethod("open", String.class);
            open.setAccessible(true);
            var e = assertThrows(InvocationTargetException.class, () -> open.invoke(null, path.toString()));
            assertEquals(LockedException.class.getName(), e.getCause().getClass().getName());
        }
    }

    @Test
    void refusesAnotherProcessUntilItDies() throws Exception {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Opener.class.getName(),
                        path.toString())
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        try (FileStorage storage = storage(path)) {
            assertEquals('L', child.getInputStream().read());
            LockedException e = assertThrows(LockedException.class, storage::lock);
            assertEquals(child.pid(), e.pid());
            child.destroyForcibly().waitFor();
            storage.lock();
        } finally {
            child.destroyForcibly().waitFor();
        }
    }

    /** Opens a store in another process, or through another class loader. */
    static final class Opener {
        private Opener() {}

        static FileStorage open(String path) {
            FileStorage storage = storage(Path.of(path));
            storage.lock();
            return storage;
        }

        public static void main(String[] arguments) throws IOException {
            try (FileStorage storage = open(arguments[0])) {
                System.out.write('L');
                System.out.flush();
                // Until it is killed, or its parent is.
                System.in.read();
                storage.syncDirectory();
            }
        }
    }
}
