package dev.heartwood;

import dev.heartwood.spi.StoreProvider;
import java.nio.file.Path;
import java.util.Objects;
import java.util.Optional;
import java.util.ServiceLoader;

/** Opens stores. Thread-safe. */
public final class Heartwood {
    private Heartwood() {}

    /** Opens, and creates when missing, the store in {@code directory} with default options. */
    public static KeyValueStore open(Path directory) {
        return open(directory, StoreOptions.defaults());
    }

    /**
     * Opens the store in {@code directory} in an environment of its own, which closes with the store.
     *
     * <p>To keep the data on a raw block device, make a symbolic link {@code data.hw} to the device in an otherwise empty
     * directory. A store is made there when the first 128 KiB of the device are zero; a device that holds anything else is refused
     * and not written to. Lock, log and the other small files stay in the directory.
     *
     * @throws UnsupportedOperationException on anything but Linux on x86-64 or AArch64 with memory pages of 4 KiB, and where the JVM
     *     denies native access, which {@code --enable-native-access} gives
     * @throws InsufficientMemoryException when the machine refuses the memory
     * @throws StoreException as {@link Environment#open}
     * @throws IllegalArgumentException as {@link Environment#open}
     * @throws IllegalStateException when there is no engine on the class path or module path
     */
    public static KeyValueStore open(Path directory, StoreOptions options) {
        Objects.requireNonNull(options, "options");
        Environment environment = openEnvironment(EnvironmentOptions.builder()
                .memory(options.memory())
                .workers(options.workers())
                .device(options.device())
                .build());
        try {
            return environment.openOwned(directory, options);
        } catch (Throwable failure) {
            try {
                environment.close();
            } catch (RuntimeException closing) {
                failure.addSuppressed(closing);
            }
            throw failure;
        }
    }

    /**
     * Opens an environment that many stores share: one memory budget, one page cache, one set of workers.
     *
     * @throws UnsupportedOperationException on anything but Linux on x86-64 or AArch64 with memory pages of 4 KiB, and where the JVM
     *     denies native access, which {@code --enable-native-access} gives
     * @throws InsufficientMemoryException when the machine refuses the memory
     * @throws IllegalStateException when there is no engine on the class path or module path
     */
    public static Environment openEnvironment(EnvironmentOptions options) {
        Objects.requireNonNull(options, "options");
        StoreProvider engine = Provider.FOUND.orElseThrow(() -> new IllegalStateException(
                "no Heartwood engine on the class path or module path; add dev.heartwood:heartwood-engine"));
        return engine.openEnvironment(options);
    }

    /** Looked for on first use. A class that threw while it was initialized could not say a second time what is missing. */
    private static final class Provider {
        static final Optional<StoreProvider> FOUND =
                ServiceLoader.load(StoreProvider.class, Heartwood.class.getClassLoader()).findFirst();
    }
}
