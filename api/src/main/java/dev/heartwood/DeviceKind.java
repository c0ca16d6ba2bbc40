package dev.heartwood;

/** How a store drives its device. */
public enum DeviceKind {
    /** io_uring where the kernel allows it, else {@link #POSIX}; a fallback is logged once. */
    AUTO,
    /**
     * io_uring, driven from Java; opening a store throws {@link StoreIoException} where the kernel denies it. With O_DIRECT a thread that
     * waits for a page looks whether it is there (Linux 5.19 or later) while no other thread wants its processor: reads take less time
     * and more of the processor than with {@link #POSIX}, where a thread sleeps meanwhile.
     */
    URING,
    /** pread and pwrite through the Foreign Function and Memory API. */
    POSIX,
    /** pread and pwrite through jnr-ffi; opening a store throws {@link IllegalStateException} when that is not on the class path. */
    JNR
}
