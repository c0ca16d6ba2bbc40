package dev.heartwood.engine.os;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.nio.charset.Charset;
import java.util.List;

/**
 * Calls that take a path, relative to the open directory {@code directory} or, with {@link #WORKING_DIRECTORY} or an
 * absolute path, to the process. They return what the C function returns, or minus errno. Thread-safe; cold: they
 * allocate.
 */
public final class PathCalls {
    /** In place of a directory's descriptor: the working directory of the process. */
    public static final int WORKING_DIRECTORY = -100;

    public static final int O_RDONLY = 0;
    public static final int O_RDWR = 2;
    public static final int O_CREAT = 0x40;
    public static final int O_EXCL = 0x80;
    public static final int O_TRUNC = 0x200;
    /** Waits for nobody where the file is a pipe. */
    public static final int O_NONBLOCK = 0x800;
    /** Past the page cache; its value differs between machines. */
    public static final int O_DIRECT = Platform.current().openDirect;
    /** Only a directory; its value differs between machines. */
    public static final int O_DIRECTORY = Platform.current().openDirectory;

    private static final int O_CLOEXEC = 0x80000;
    private static final int ENTRIES_BYTES = 32 << 10;
    private static final int ENTRY_LENGTH = 16;
    private static final int ENTRY_NAME = 19;

    private static final MethodHandle OPENAT = NativeLinker.linkVariadic(
            "openat", 3, NativeLinker.INT, NativeLinker.INT, NativeLinker.LONG, NativeLinker.INT, NativeLinker.INT);
    private static final MethodHandle MKDIRAT = NativeLinker.link(
            "mkdirat", NativeLinker.INT, NativeLinker.INT, NativeLinker.LONG, NativeLinker.INT);
    private static final MethodHandle UNLINKAT = NativeLinker.link(
            "unlinkat", NativeLinker.INT, NativeLinker.INT, NativeLinker.LONG, NativeLinker.INT);
    private static final MethodHandle RENAMEAT = NativeLinker.link(
            "renameat", NativeLinker.INT, NativeLinker.INT, NativeLinker.LONG, NativeLinker.INT, NativeLinker.LONG);

    private PathCalls() {}

    /** In what paths are encoded, by the JDK and here. */
    public static Charset charset() {
        return PathText.SYSTEM.charset();
    }

    /** Opens a file, close-on-exec; the descriptor. {@code mode} holds the permissions of a new file. */
    public static int open(int directory, String path, int flags, int mode) {
        MemorySegment state = NativeLinker.state();
        try (Arena arena = Arena.ofConfined()) {
            long name = PathText.SYSTEM.encode(path, arena);
            int result = (int) OPENAT.invokeExact(state, directory, name, flags | O_CLOEXEC, mode);
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** Makes a directory. */
    public static int makeDirectory(int directory, String path, int mode) {
        return onPath(MKDIRAT, directory, path, mode);
    }

    /** Removes a file's name. */
    public static int unlink(int directory, String path) {
        return onPath(UNLINKAT, directory, path, 0);
    }

    private static int onPath(MethodHandle call, int directory, String path, int last) {
        MemorySegment state = NativeLinker.state();
        try (Arena arena = Arena.ofConfined()) {
            long name = PathText.SYSTEM.encode(path, arena);
            int result = (int) call.invokeExact(state, directory, name, last);
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /** Renames a file within a directory, replacing what has the new name. */
    public static int rename(int directory, String from, String to) {
        MemorySegment state = NativeLinker.state();
        try (Arena arena = Arena.ofConfined()) {
            long source = PathText.SYSTEM.encode(from, arena);
            long target = PathText.SYSTEM.encode(to, arena);
            int result = (int) RENAMEAT.invokeExact(state, directory, source, directory, target);
            return (int) NativeLinker.resultOrErrno(result, state);
        } catch (Throwable e) {
            throw NativeLinker.unexpected(e);
        }
    }

    /**
     * Appends to {@code names} what a directory holds from where it was listed to, at first all of it, without the entries for itself and
     * its parent. Where that fails names may have been appended; called again it goes on behind them.
     */
    public static int list(int directory, List<String> names) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entries = arena.allocate(ENTRIES_BYTES, 8);
            while (true) {
                long length = SystemCall.call(
                        Platform.current().callGetdents64, directory, entries.address(), ENTRIES_BYTES, 0, 0, 0);
                if (length <= 0) {
                    return (int) length;
                }
                for (long at = 0; at < length; at += entries.get(NativeLinker.SHORT, at + ENTRY_LENGTH) & 0xffff) {
                    String name = PathText.SYSTEM.decode(entries, at + ENTRY_NAME);
                    if (!name.equals(".") && !name.equals("..")) {
                        names.add(name);
                    }
                }
            }
        }
    }
}
