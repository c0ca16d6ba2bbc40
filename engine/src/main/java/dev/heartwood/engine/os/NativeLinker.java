package dev.heartwood.engine.os;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.VarHandle;

/**
 * Links functions of the C library. Pointers are declared as {@code long}, so that a call makes no segment; errno is
 * captured in the same call, into native memory of the calling thread.
 */
final class NativeLinker {
    static final ValueLayout.OfShort SHORT = ValueLayout.JAVA_SHORT;
    static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT;
    static final ValueLayout.OfLong LONG = ValueLayout.JAVA_LONG;

    private static final Linker LINKER = Linker.nativeLinker();
    private static final VarHandle ERRNO =
            Linker.Option.captureStateLayout().varHandle(MemoryLayout.PathElement.groupElement("errno"));

    /*
     * Blocking calls pin a virtual thread to its carrier, so the memory of the current thread stays its own during a
     * call.
     */
    private static final ThreadLocal<MemorySegment> STATE =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(Linker.Option.captureStateLayout()));

    private NativeLinker() {}

    /** A function whose first Java parameter is {@link #state}. */
    static MethodHandle link(String name, MemoryLayout result, MemoryLayout... parameters) {
        return linkVariadic(name, parameters.length, result, parameters);
    }

    /** As {@link #link}, for a C function whose parameters from index {@code firstVariadic} on are variadic. */
    @SuppressWarnings("restricted")
    static MethodHandle linkVariadic(String name, int firstVariadic, MemoryLayout result, MemoryLayout... parameters) {
        MemorySegment function = LINKER.defaultLookup()
                .find(name)
                .orElseThrow(() -> new UnsupportedOperationException("the C library has no function " + name));
        FunctionDescriptor descriptor = FunctionDescriptor.of(result, parameters);
        Linker.Option errno = Linker.Option.captureCallState("errno");
        return firstVariadic == parameters.length
                ? LINKER.downcallHandle(function, descriptor, errno)
                : LINKER.downcallHandle(function, descriptor, errno, Linker.Option.firstVariadicArg(firstVariadic));
    }

    /** Where the calling thread captures errno. */
    static MemorySegment state() {
        return STATE.get();
    }

    /** What errno was after the last call with this state. */
    static int errno(MemorySegment state) {
        return (int) ERRNO.get(state, 0L);
    }

    /** The result of a call that returns -1 and sets errno on failure: the result itself, or minus errno. */
    static long resultOrErrno(long result, MemorySegment state) {
        return result == -1 ? -errno(state) : result;
    }

    /** What a method handle of this package throws only when the binding itself is wrong, or the Java heap is full. */
    static Error unexpected(Throwable failure) {
        return failure instanceof Error error ? error : new AssertionError("native call failed in the binding", failure);
    }
}
