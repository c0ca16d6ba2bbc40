package dev.heartwood;

/** How a store drives its device. */
public enum DeviceKind {
    /** io_uring where the kernel allows it, else {@link #POSIX}; a fallback is logged once. */
    AUTO,
    /** io_uring, driven from Java; opening a store throws {@link StoreIoException} where the kernel denies it. */
    URING,
    /** pread and pwrite through the Foreign Function and Memory API. */
    POSIX,
    /** pread and pwrite through jnr-ffi; opening a store throws {@link IllegalStateException} when that is not on the class path. */
    JNR
}
