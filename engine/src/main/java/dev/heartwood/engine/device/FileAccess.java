package dev.heartwood.engine.device;

import dev.heartwood.engine.os.FileLocks;
import dev.heartwood.engine.os.NativeMemory;
import dev.heartwood.engine.os.PathCalls;

/** What a storage opens existing files for. */
enum FileAccess {
    /** Reading and writing. */
    WRITE(PathCalls.O_RDWR, NativeMemory.PROT_READ | NativeMemory.PROT_WRITE) {
        @Override
        int tryLock(int descriptor) {
            return FileLocks.tryLock(descriptor);
        }
    },
    /** Reading alone, which a file system that is read-only allows too. */
    READ(PathCalls.O_RDONLY, NativeMemory.PROT_READ) {
        @Override
        int tryLock(int descriptor) {
            return FileLocks.tryLockShared(descriptor);
        }
    };

    /** The flag to open with. */
    final int openFlag;

    /** How a mapping is protected. */
    final int protection;

    FileAccess(int openFlag, int protection) {
        this.openFlag = openFlag;
        this.protection = protection;
    }

    /** Locks a file that was opened for this: against everybody, or against those who write. 0, or minus errno. */
    abstract int tryLock(int descriptor);
}
