package dev.heartwood.engine.inspect;

import dev.heartwood.CorruptionException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.VerifyReport;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.NativePath;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.os.Platform;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.verify.StoreVerifier;
import java.io.PrintStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.ToIntFunction;

/** The commands over stores that are not open: verify, inspect, backup, salvage. */
public final class Main {
    /** Nothing is damaged. */
    public static final int CLEAN = 0;

    /**
     * Damage was found, be it of both superblocks, or the device cannot read something. It is listed on standard output; what cannot be
     * copied because of it is said on standard error.
     */
    public static final int DAMAGED = 1;

    /** The arguments make no sense, or a path is none that a store can have. */
    public static final int WRONG_ARGUMENTS = 2;

    /** The store could not be opened or read: there is none, it is open elsewhere, its format is too new, or Heartwood does not run here. */
    public static final int CANNOT_OPEN = 3;

    /** The copy could not be written, for want of space or by a failure of the device; it is not a store. */
    public static final int CANNOT_WRITE = 4;

    /**
     * The copy was made and is whole; what failed then was to close the store that was copied, or the one that a salvage without losses copied
     * to. What either held is durable, and it opens as after a crash.
     */
    public static final int CANNOT_CLOSE = 5;

    /** All went well, but standard output could not be written: on a full disk, or to who reads no more. */
    public static final int CANNOT_SAY = 6;

    private static final int EINVAL = 22;

    private final PrintStream out;
    private final PrintStream err;

    private Main(PrintStream out, PrintStream err) {
        this.out = out;
        this.err = err;
    }

    /** Exits with one of the codes above. */
    public static void main(String[] arguments) {
        System.exit(run(arguments, System.out, System.err));
    }

    /** As {@link #main}, with streams of the caller's choice; returns the exit code. */
    public static int run(String[] arguments, PrintStream out, PrintStream err) {
        int code = new Main(out, err).run(arguments);
        if (out.checkError()) {
            err.println("standard output cannot be written: not all was said that there is");
            return code == CLEAN ? CANNOT_SAY : code;
        }
        return code;
    }

    private int run(String[] arguments) {
        try {
            Platform.require();
        } catch (UnsupportedOperationException e) {
            err.println(e.getMessage());
            return CANNOT_OPEN;
        }
        String command = arguments.length == 0 ? "" : arguments[0];
        try {
            return switch (command + " " + (arguments.length - 1)) {
                case "verify 1" -> over(Path.of(arguments[1]), this::verify);
                case "inspect 1" -> over(Path.of(arguments[1]), this::inspect);
                case "backup 2" -> copy(arguments, new CopyCommands(out, err)::backup);
                case "salvage 2" -> copy(arguments, new CopyCommands(out, err)::salvage);
                default -> wrong();
            };
        } catch (InvalidPathException e) {
            err.println(e.getMessage());
            return WRONG_ARGUMENTS;
        } catch (CorruptionException e) {
            err.println(e.getMessage());
            return DAMAGED;
        } catch (StoreException e) {
            err.println(e.getMessage());
            return CANNOT_OPEN;
        } catch (OutOfMemoryError full) {
            err.println(heapIsFull());
            return CANNOT_OPEN;
        }
    }

    static String heapIsFull() {
        return "the Java heap is full; give it more than " + Table.bytes(Runtime.getRuntime().maxMemory())
                + " by -Xmx, for bin/heartwood by HEARTWOOD_JAVA_OPTS";
    }

    /** Copies from one directory to another. */
    private interface Copying {
        int run(Storage from, Path to);
    }

    private int copy(String[] arguments, Copying copying) {
        Path from = Path.of(arguments[1]);
        Path to = NativePath.absolute(Path.of(arguments[2])); // before the store that is copied is opened
        if (from.toAbsolutePath().normalize().equals(to.toAbsolutePath().normalize())) {
            err.println("cannot write a copy of " + from.toAbsolutePath().normalize() + " to itself");
            return CANNOT_OPEN;
        }
        return over(from, storage -> copying.run(storage, to));
    }

    private int wrong() {
        err.println("usage: verify DIR | inspect DIR | backup FROM TO | salvage FROM TO");
        return WRONG_ARGUMENTS;
    }

    /** Reads past the page cache of the operating system, unless the file system of the directory refuses that. */
    static int over(Path directory, ToIntFunction<Storage> command) {
        try (Storage storage = FileStorage.reading(directory, IoMode.DIRECT)) {
            return command.applyAsInt(storage);
        } catch (StoreIoException e) {
            if (e.errno() != EINVAL || !Path.of(e.path()).startsWith(directory.toAbsolutePath())) {
                throw e;
            }
        }
        try (Storage storage = FileStorage.reading(directory, IoMode.BUFFERED)) {
            return command.applyAsInt(storage);
        }
    }

    private int verify(Storage storage) {
        VerifyReport report = StoreVerifier.verify(storage, new PrintedProgress(err, Clock.SYSTEM));
        report.problems().forEach(out::println);
        report.notes().forEach(note -> out.println("note: " + note));
        out.printf(
                Locale.ROOT,
                "%,d nodes, %,d branches, %,d filters, %,d entries, %,d pages verified%n",
                report.nodes(),
                report.branches(),
                report.filters(),
                report.entries(),
                report.pages());
        out.printf(
                Locale.ROOT,
                "%,d extents of %s: %,d used, %,d free; %,d log records to replay%n",
                report.fileExtents(),
                Table.bytes(PageLayout.EXTENT_BYTES),
                report.usedExtents(),
                Math.max(0, report.fileExtents() - report.usedExtents()),
                report.logRecords());
        return conclude(report.problems());
    }

    private int inspect(Storage storage) {
        List<String> problems = StoreDescription.print(storage, out);
        if (!problems.isEmpty()) {
            problems.forEach(out::println);
            return conclude(problems);
        }
        return CLEAN;
    }

    private int conclude(List<String> problems) {
        if (problems.isEmpty()) {
            out.println("clean");
            return CLEAN;
        }
        out.println("damaged: " + problems.size() + (problems.size() == 1 ? " problem" : " problems")
                + "; where open refuses the store, salvage copies what can be read");
        return DAMAGED;
    }
}
