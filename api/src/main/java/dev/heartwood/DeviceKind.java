package dev.heartwood;

/** How a store drives its device. */
public enum DeviceKind {
    /**
     * What the kernel allows: io_uring for reads that a thread waits for, as with {@link #URING}, and Linux AIO for reads and writes that
     * are begun several at once, as with {@link #AIO}. Where only one of them is allowed that alone, and {@link #POSIX} where neither is; what
     * is missing is logged once.
     */
    AUTO,
    /**
     * io_uring, driven from Java; opening a store throws {@link StoreIoException} where the kernel denies it. With O_DIRECT a thread that
     * waits for a page looks whether it is there (Linux 5.19 or later) while no other thread wants its processor: reads take less time
     * and more of the processor than with {@link #POSIX}, where a thread sleeps meanwhile. The kernel does not tell of a read that was begun
     * ahead while the thread that began it waits uninterruptibly, as for a file system that is frozen: who needs what it reads waits as long.
     */
    URING,
    /**
     * pread and pwrite through the Foreign Function and Memory API, and Linux AIO to begin several reads or writes at once, which
     * goes with O_DIRECT; opening a store throws {@link StoreIoException} where the kernel denies it, or where all of what the machine's
     * {@code fs.aio-max-nr} allows is taken.
     */
    AIO,
    /** pread and pwrite through the Foreign Function and Memory API. */
    POSIX,
    /** pread and pwrite through jnr-ffi; opening a store throws {@link IllegalStateException} when that is not on the class path. */
    JNR
}
