package dev.heartwood.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/** A small ext4 file system of its own, in an image file, mounted. That takes root; elsewhere there is none. */
public final class MountedFileSystem implements AutoCloseable {
    private final Path path;
    /** Where the device of this one is mounted, if that is thin. */
    private Path thin;

    private MountedFileSystem(Path path) {
        this.path = path;
    }

    /** Makes and mounts one in a directory, for which there must be room; empty where that is not allowed. */
    public static Optional<MountedFileSystem> of(Path parent, int mebibytes) {
        Path image = parent.resolve("image");
        Path path = directory(parent.resolve("mount"));
        boolean mounted = runs("truncate", "-s", mebibytes + "M", image.toString())
                && runs("mkfs.ext4", "-q", "-F", "-m", "0", image.toString())
                && runs("mount", "-o", "loop", image.toString(), path.toString());
        return mounted ? Optional.of(new MountedFileSystem(path)) : Optional.empty();
    }

    /** One whose device has no room for all of it, but what {@link #exhaust} leaves; empty where that is not allowed. */
    public static Optional<MountedFileSystem> onThinDevice(Path parent) {
        Path thin = directory(parent.resolve("thin"));
        if (!runs("mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", thin.toString())) {
            return Optional.empty();
        }
        Path image = thin.resolve("image");
        Path path = directory(parent.resolve("mount"));
        // What a journal cannot write ends the file system.
        boolean mounted = runs("truncate", "-s", "64M", image.toString())
                && runs("mkfs.ext4", "-q", "-F", "-m", "0", "-O", "^has_journal", image.toString())
                && runs("mount", "-o", "loop", image.toString(), path.toString());
        if (!mounted) {
            require("umount", thin.toString());
            return Optional.empty();
        }
        MountedFileSystem files = new MountedFileSystem(path);
        files.thin = thin;
        return Optional.of(files);
    }

    /** From now on the thin device fails to write blocks that were never written. */
    public void exhaust() {
        require("sync", "-f", path.toString());
        if (runs("dd", "if=/dev/zero", "of=" + thin.resolve("ballast"), "bs=64k", "status=none")) {
            throw new AssertionError(thin + " has room for everything");
        }
    }

    /** Has the operating system write back what it has of all files; returns whether it could. */
    public boolean writeBack() {
        return runs("sync", "-f", path.toString());
    }

    /** Has the operating system forget a file, if nobody has it open. */
    public void forget(Path file) {
        require("dd", "if=" + file, "of=/dev/null", "iflag=nocache", "count=0", "status=none");
        require("sh", "-c", "echo 2 > /proc/sys/vm/drop_caches");
    }

    private static Path directory(Path path) {
        try {
            return Files.createDirectory(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Where it is mounted. */
    public Path path() {
        return path;
    }

    /** Has whoever writes wait, uninterruptibly, until {@link #thaw}. */
    public void freeze() {
        require("fsfreeze", "-f", path.toString());
    }

    /** Ends a {@link #freeze}. */
    public void thaw() {
        require("fsfreeze", "-u", path.toString());
    }

    /** Lets nobody write any more; fails while a file is open to be written. */
    public void readOnly() {
        require("mount", "-o", "remount,ro", path.toString());
    }

    /** Lets everybody write again. */
    public void writable() {
        require("mount", "-o", "remount,rw", path.toString());
    }

    /** Mounts it a second time, by another path and read-only, while it stays writable by the first. */
    public MountedFileSystem readOnlyView(Path at) {
        require("mount", "--bind", path.toString(), directory(at).toString());
        MountedFileSystem view = new MountedFileSystem(at);
        require("mount", "-o", "remount,bind,ro", at.toString());
        return view;
    }

    /** Fails while a file is open. */
    @Override
    public void close() {
        require("umount", path.toString());
        if (thin != null) {
            require("umount", thin.toString());
        }
    }

    private static void require(String... command) {
        if (!runs(command)) {
            throw new AssertionError(String.join(" ", command) + " failed");
        }
    }

    private static boolean runs(String... command) {
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
        } catch (IOException notThere) {
            return false;
        }
        try {
            return process.waitFor() == 0;
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
