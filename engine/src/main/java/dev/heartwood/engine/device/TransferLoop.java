package dev.heartwood.engine.device;

import dev.heartwood.engine.os.Errno;

/** Repeats a system call until all of a range has been transferred. */
final class TransferLoop {
    /*
     * A short transfer is continued where it stopped, rounded down to what O_DIRECT can address: the bytes in between
     * are transferred twice. Calls that get nowhere end the loop: for a read that is the end of the file.
     */
    /** The smallest logical block of a device. */
    static final int SECTOR_BYTES = 512;

    private static final int STALLS_MAX = 8;

    /** One system call: the bytes transferred, or minus errno. */
    interface Call {
        long transfer(int descriptor, long address, long length, long position);
    }

    private TransferLoop() {}

    static void read(Call call, int descriptor, long position, long address, int length, String name) {
        int done = run(call, descriptor, position, address, length, false, name);
        if (done < length) {
            throw Failures.endOfFile(name, position + done, length - done);
        }
    }

    static void write(Call call, int descriptor, long position, long address, int length, String name) {
        int done = run(call, descriptor, position, address, length, true, name);
        if (done < length) {
            throw Failures.of(-Errno.EIO, "pwrite (nothing written)", name, position + done);
        }
    }

    private static int run(
            Call call, int descriptor, long position, long address, int length, boolean writes, String name) {
        int done = 0;
        int stalls = 0;
        while (done < length && stalls < STALLS_MAX) {
            long result = call.transfer(descriptor, address + done, length - done, position + done);
            if (result < 0) {
                if (!Failures.transientError(result)) {
                    throw writes
                            ? Failures.of(result, "pwrite", name, position + done)
                            : Failures.ofRead(result, "pread", name, position + done);
                }
                Thread.yield();
            } else {
                int progress = progress(result, length - done);
                stalls = progress == 0 ? stalls + 1 : 0;
                done += progress;
            }
        }
        return done;
    }

    /** How far a transfer of {@code wanted} bytes that returned {@code result} advances the next one. */
    static int progress(long result, int wanted) {
        return result >= wanted ? wanted : (int) result & -SECTOR_BYTES;
    }
}
