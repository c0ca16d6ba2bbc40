package dev.heartwood.engine.inspect;

import dev.heartwood.BackupReport;
import dev.heartwood.ByteSize;
import dev.heartwood.CorruptionException;
import dev.heartwood.DeviceKind;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.KeyValueStore;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.StoreOptions.OpenMode;
import dev.heartwood.UnsuitableTargetException;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.checkpoint.StoreFiles;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.salvage.Salvage;
import dev.heartwood.engine.salvage.SalvageReport;
import dev.heartwood.engine.store.EngineEnvironment;
import dev.heartwood.engine.verify.OpenedStore;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Function;
import java.util.function.LongFunction;

/** The commands {@code backup FROM TO} and {@code salvage FROM TO}. */
final class CopyCommands {
    private static final long MEMORY_MIB = 256;
    private static final long MEMORY_MIB_MAX = 16 << 10;

    /** Said where what comes after the copy fails. */
    private static final String COPY_IS_MADE = "; the copy was made, and is a store";

    private final PrintStream out;
    private final PrintStream err;

    CopyCommands(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** Opens a store as its owner would, which replays its log, and makes a backup of it. */
    int backup(Storage from, Path to) {
        StoreOptions options;
        try (from;
                OpenedStore closed = new OpenedStore(from)) {
            if (closed.newest() == null) {
                return damaged(closed.view().copies()[0].damage());
            }
            options = StoreOptions.parse(closed.newest().options());
        }
        StoreOptions existing =
                options.toBuilder().openMode(OpenMode.OPEN_EXISTING).build();
        return backup(mib -> open(mib, from, existing), to);
    }

    /** As the other; {@code opening} opens the store with so many MiB of memory. */
    int backup(LongFunction<KeyValueStore> opening, Path to) {
        for (long mib = MEMORY_MIB; ; mib *= 4) {
            try {
                return backupAndClose(opening.apply(mib), to);
            } catch (InsufficientMemoryException e) {
                // Its owner may have given it more, and its log have writes that take as much.
                if (mib >= MEMORY_MIB_MAX) {
                    throw e;
                }
            } catch (CorruptionException | ReadFailedException e) {
                return damaged(e);
            }
        }
    }

    /** What the backup came to stands, whatever closing the store meets: what was made is not made again. */
    private int backupAndClose(KeyValueStore store, Path to) {
        Integer code = null;
        try (store) {
            code = backup(store, to);
        } catch (StoreException | OutOfMemoryError e) {
            if (code == null) {
                throw e;
            }
            boolean isMade = code == Main.CLEAN;
            err.println(why(e) + (isMade ? COPY_IS_MADE : ""));
            return isMade ? Main.CANNOT_CLOSE : code;
        }
        return code;
    }

    /** A store whose environment is its own. */
    private static KeyValueStore open(long mib, Storage from, StoreOptions options) {
        Environment environment = environment(mib);
        try {
            return open(environment, from, options);
        } catch (RuntimeException | Error e) {
            environment.close();
            throw e;
        }
    }

    /** Through the page cache where the file system refuses O_DIRECT, which it may since the store was made. */
    private static KeyValueStore open(Environment environment, Storage from, StoreOptions options) {
        try {
            return environment.openOwned(from.directory(), options);
        } catch (StoreIoException e) {
            if (options.ioMode() == IoMode.BUFFERED || !StoreFiles.isDirectRefused(e, from)) {
                throw e;
            }
        }
        return environment.openOwned(from.directory(), options.toBuilder().ioMode(IoMode.BUFFERED).build());
    }

    private int damaged(StoreException damage) {
        err.println(damage.getMessage() + "; salvage copies what can be read");
        return Main.DAMAGED;
    }

    /** As the other, of an open store. */
    int backup(KeyValueStore store, Path to) {
        try {
            BackupReport report = store.backup(to);
            out.printf(
                    Locale.ROOT,
                    "checkpoint %,d: %,d pages, of which %,d were copied, verified%n",
                    report.checkpoint(),
                    report.pages(),
                    report.pagesCopied());
            return Main.CLEAN;
        } catch (CorruptionException e) {
            if (!isIn(to, e.file())) {
                return damaged(e);
            }
            err.println(e.getMessage());
            return Main.CANNOT_WRITE;
        } catch (NoSpaceException | StoreIoException e) {
            if (e instanceof ReadFailedException failure && !isIn(to, failure.path())) {
                return damaged(failure);
            }
            err.println(e.getMessage());
            return Main.CANNOT_WRITE;
        }
    }

    /** What is met there says nothing of the store that is copied. */
    private static boolean isIn(Path directory, String file) {
        return Path.of(file).toAbsolutePath().startsWith(directory.toAbsolutePath());
    }

    /** Copies what can be read; says on standard output what cannot. */
    int salvage(Storage from, Path to) {
        try (EngineEnvironment environment = environment(MEMORY_MIB)) {
            return salvage(from, to, options -> environment.openForSalvage(to, options));
        }
    }

    /** As the other; {@code opening} makes the store that is copied to. */
    int salvage(Storage from, Path to, Function<StoreOptions, KeyValueStore> opening) {
        boolean[] isBegun = new boolean[1];
        Function<StoreOptions, KeyValueStore> noted = options -> {
            KeyValueStore copy = opening.apply(options);
            isBegun[0] = true;
            return copy;
        };
        try (Storage target = new FileStorage(to, DeviceKind.POSIX, IoMode.BUFFERED)) {
            StoreFiles.requireApart(from, target);
            requireEmpty(target);
            SalvageReport report =
                    Salvage.run(from, target, noted, out::println, new PrintedProgress(err, Clock.SYSTEM));
            out.printf(
                    Locale.ROOT,
                    "%,d records and %,d writes of the log copied, %,d of them maybe older than they should be; %,d losses%s%n",
                    report.records(),
                    report.logEntries(),
                    report.suspects(),
                    report.losses(),
                    report.lossesOfAnyKey() == 0 ? "" : ", some of keys not known: any other record may be older than it should be, too");
            if (report.closingFailure() != null) {
                err.println(why(report.closingFailure()) + COPY_IS_MADE);
            }
            return report.losses() > 0 ? Main.DAMAGED : report.closingFailure() == null ? Main.CLEAN : Main.CANNOT_CLOSE;
        } catch (StoreException e) {
            if (!isBegun[0] && !(e instanceof NoSpaceException)) {
                throw e;
            }
            return unfinished(e);
        } catch (OutOfMemoryError full) {
            if (!isBegun[0]) {
                throw full;
            }
            return unfinished(full);
        }
    }

    /** A device may lie there; what a salvage has left that was broken off is refused by the name of that. */
    private static void requireEmpty(Storage target) {
        for (String name : StoreFiles.namesInTarget(target)) {
            if (!target.isRawDevice(name) && !target.exists(StoreFiles.COPYING)) {
                throw new UnsuitableTargetException(target.directory().toString(), "it is not empty; there is " + name);
            }
        }
    }

    private int unfinished(Throwable failure) {
        err.println(why(failure) + "; what was copied is incomplete and no store");
        return Main.CANNOT_WRITE;
    }

    private static String why(Throwable failure) {
        boolean isHeap = failure instanceof OutOfMemoryError || failure.getCause() instanceof OutOfMemoryError;
        return isHeap ? Main.heapIsFull() : failure.getMessage();
    }

    private static EngineEnvironment environment(long mib) {
        return EngineEnvironment.open(
                EnvironmentOptions.builder().memory(ByteSize.mib(mib)).build());
    }
}
