package dev.heartwood.engine.os;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * What the file system says about a file.
 *
 * @param errno 0, or why nothing is known; the other fields are then 0
 * @param kind what the file is
 * @param size its size in bytes
 * @param allocatedBytes the bytes of its allocated blocks
 * @param directAlignment the alignment that O_DIRECT needs in bytes; 0 when O_DIRECT is refused, -1 when not known
 */
public record FileStatus(int errno, Kind kind, long size, long allocatedBytes, int directAlignment) {
    /** What a file is. */
    public enum Kind {
        UNKNOWN,
        REGULAR,
        DIRECTORY,
        BLOCK_DEVICE
    }

    private static final int AT_EMPTY_PATH = 0x1000;
    private static final int MASK_BASIC = 0x7ff;
    private static final int MASK_DIRECT = 0x2000;
    private static final int TYPE_BITS = 0xf000;

    /* struct statx has one form on every machine, struct stat has not. */
    private static final int STATX_BYTES = 256;
    private static final int STATX_MASK = 0;
    private static final int STATX_MODE = 28;
    private static final int STATX_SIZE = 40;
    private static final int STATX_BLOCKS = 48;
    private static final int STATX_DIRECT_MEMORY_ALIGNMENT = 152;
    private static final int STATX_DIRECT_OFFSET_ALIGNMENT = 156;

    /** The status of an open file. */
    public static FileStatus of(int descriptor) {
        return of(descriptor, "", AT_EMPTY_PATH);
    }

    /** The status of a file by path, as in {@link PathCalls}; symbolic links are followed. */
    public static FileStatus of(int directory, String path) {
        return of(directory, path, 0);
    }

    private static FileStatus of(int directory, String path, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(STATX_BYTES, 8);
            long result = SystemCall.call(
                    Platform.current().callStatx,
                    directory,
                    PathText.SYSTEM.encode(path, arena),
                    flags,
                    MASK_BASIC | MASK_DIRECT,
                    status.address(),
                    0);
            if (result < 0) {
                return new FileStatus((int) -result, Kind.UNKNOWN, 0, 0, -1);
            }
            return decode(status);
        }
    }

    private static FileStatus decode(MemorySegment status) {
        int type = status.get(ValueLayout.JAVA_SHORT, STATX_MODE) & TYPE_BITS;
        Kind kind =
                switch (type) {
                    case 0x8000 -> Kind.REGULAR;
                    case 0x4000 -> Kind.DIRECTORY;
                    case 0x6000 -> Kind.BLOCK_DEVICE;
                    default -> Kind.UNKNOWN;
                };
        int alignment = -1;
        if ((status.get(NativeLinker.INT, STATX_MASK) & MASK_DIRECT) != 0) {
            int memory = status.get(NativeLinker.INT, STATX_DIRECT_MEMORY_ALIGNMENT);
            int offset = status.get(NativeLinker.INT, STATX_DIRECT_OFFSET_ALIGNMENT);
            alignment = memory == 0 || offset == 0 ? 0 : Math.max(memory, offset);
        }
        long size = status.get(NativeLinker.LONG, STATX_SIZE);
        return new FileStatus(0, kind, size, 512 * status.get(NativeLinker.LONG, STATX_BLOCKS), alignment);
    }
}
