package dev.heartwood.engine.os;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** System calls by number, for those that not every C library wraps. Thread-safe. */
final class SystemCall {
    /* New calls have the same number on every machine. */
    static final int IO_URING_SETUP = 425;
    static final int IO_URING_ENTER = 426;

    private static final MethodHandle SYSCALL = NativeLinker.linkVariadic(
            "syscall",
            1,
            NativeLinker.LONG,
            NativeLinker.LONG,
            NativeLinker.LONG,
            NativeLinker.LONG,
            NativeLinker.LONG,
            NativeLinker.LONG,
            NativeLinker.LONG,
            NativeLinker.LONG);

    private SystemCall() {}

    /** The result of the call, or minus errno. */
    static long call(long number, long a, long b, long c, long d, long e, long f) {
        MemorySegment state = NativeLinker.state();
        try {
            long result = (long) SYSCALL.invokeExact(state, number, a, b, c, d, e, f);
            return NativeLinker.resultOrErrno(result, state);
        } catch (Throwable failure) {
            throw NativeLinker.unexpected(failure);
        }
    }
}
