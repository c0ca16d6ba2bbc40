package dev.heartwood.engine.os;

import static dev.heartwood.engine.os.AioLayout.*;

import dev.heartwood.StoreIoException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * One context of Linux AIO. What it is asked for is told as done when the device has done it, whatever the thread does that asked; it is
 * done meanwhile only of files that are opened with O_DIRECT.
 */
public final class Aio implements Ring {
    /*
     * What is prepared lies in the first of the operations that were not submitted on; the kernel copies it. What is done is
     * taken from the ring of events that the kernel shares with the process, without a call; a call that waits takes events by itself, as
     * many as there are, which come first then. An operation that the kernel refuses is done with that error.
     *
     * The kernel takes long to end a context, some thirty milliseconds.
     */
    private static final String NAME = "Linux AIO";
    private static final VarHandle INT = NativeLinker.INT.varHandle();

    private final long context;
    private final int entries;
    private final MemorySegment ring;
    private final int ringEvents;
    private final MemorySegment operations;
    private final MemorySegment addresses;
    private final MemorySegment taken;

    private int first;
    private int unsubmitted;
    private int underWay;
    private int takenNext;
    private int takenEnd;
    private boolean refused;
    private long refusedUserData;
    private int refusedResult;
    private boolean closed;

    private Aio(long context, int entries, MemorySegment ring, Arena arena) {
        this.context = context;
        this.entries = entries;
        this.ring = ring;
        ringEvents = ring.get(NativeLinker.INT, RING_EVENTS);
        operations = arena.allocate((long) IOCB_BYTES * entries, Long.BYTES);
        addresses = arena.allocate((long) Long.BYTES * entries, Long.BYTES);
        taken = arena.allocate((long) EVENT_BYTES * entries, Long.BYTES);
        for (int i = 0; i < entries; i++) {
            addresses.setAtIndex(NativeLinker.LONG, i, operations.address() + (long) IOCB_BYTES * i);
        }
    }

    /**
     * Makes a context for {@code entries} operations at once.
     *
     * @throws StoreIoException when the kernel has no AIO, denies it, or has no more of what fs.aio-max-nr allows all processes
     */
    public static Aio open(int entries) {
        Arena arena = Arena.ofAuto();
        MemorySegment context = arena.allocate(NativeLinker.LONG);
        int result = (int) SystemCall.call(
                Platform.current().callIoSetup, entries, context.address(), 0, 0, 0, 0);
        if (result < 0) {
            throw failure(result);
        }
        long address = context.get(NativeLinker.LONG, 0);
        try {
            return new Aio(address, entries, ring(address), arena);
        } catch (Throwable e) {
            destroy(address);
            throw e;
        }
    }

    /** The ring of events of a context, if it is as this class knows it. */
    @SuppressWarnings("restricted")
    private static MemorySegment ring(long address) {
        MemorySegment header = MemorySegment.ofAddress(address).reinterpret(RING_BYTES);
        if (header.get(NativeLinker.INT, RING_MAGIC) != MAGIC
                || header.get(NativeLinker.INT, RING_INCOMPATIBLE) != 0
                || header.get(NativeLinker.INT, RING_HEADER_BYTES) != RING_BYTES) {
            throw failure(-Errno.ENOSYS);
        }
        return MemorySegment.ofAddress(address)
                .reinterpret(RING_BYTES + (long) EVENT_BYTES * header.get(NativeLinker.INT, RING_EVENTS));
    }

    @Override
    public int entries() {
        return entries;
    }

    @Override
    public void prepare(boolean isWrite, int file, long address, int length, long position, long userData) {
        assert MemoryRegions.contains(address, length);
        if (unsubmitted + underWay + (refused ? 1 : 0) >= entries) {
            throw new IllegalStateException("the ring is full");
        }
        long operation = (long) IOCB_BYTES * ((first + unsubmitted) % entries);
        operations.set(NativeLinker.LONG, operation + IOCB_USER_DATA, userData);
        operations.set(NativeLinker.LONG, operation + IOCB_OPCODE, (isWrite ? OPCODE_WRITE : OPCODE_READ) | (long) file << 32);
        operations.set(NativeLinker.LONG, operation + IOCB_ADDRESS, address);
        operations.set(NativeLinker.LONG, operation + IOCB_LENGTH, length);
        operations.set(NativeLinker.LONG, operation + IOCB_POSITION, position);
        unsubmitted++;
    }

    @Override
    public int unsubmitted() {
        return unsubmitted;
    }

    @Override
    public String enterCall() {
        return "io_submit or io_getevents";
    }

    @Override
    public int enter(int completionsMin) {
        int result = unsubmitted == 0 || refused ? 0 : start();
        boolean waits = completionsMin > 0 && underWay > 0 && !completed();
        return waits ? await(result) : result;
    }

    /** Has the kernel take what lies together of what is prepared; how much it took or refused, or minus errno when it may be tried again. */
    private int start() {
        int count = Math.min(unsubmitted, entries - first);
        int result = (int) SystemCall.call(
                Platform.current().callIoSubmit, context, count, addresses.address() + (long) Long.BYTES * first, 0, 0, 0);
        if (result == -Errno.EAGAIN || result == -Errno.EINTR) {
            return result;
        }
        if (result < 0) {
            refused = true;
            refusedUserData = operations.get(NativeLinker.LONG, (long) IOCB_BYTES * first + IOCB_USER_DATA);
            refusedResult = result;
            result = 1;
        } else {
            underWay += result;
        }
        unsubmitted -= result;
        first = unsubmitted == 0 ? 0 : (first + result) % entries;
        return result;
    }

    private int await(int started) {
        int result = (int) SystemCall.call(
                Platform.current().callIoGetEvents, context, 1, entries, taken.address(), 0, 0);
        if (result < 0) {
            return result;
        }
        takenNext = 0;
        takenEnd = result;
        return Math.max(started, 0);
    }

    @Override
    public boolean isUnderWay() {
        return underWay > 0;
    }

    @Override
    public boolean completed() {
        return refused || takenNext < takenEnd || ringHead() != (int) INT.getAcquire(ring, (long) RING_TAIL);
    }

    private int ringHead() {
        return ring.get(NativeLinker.INT, RING_HEAD);
    }

    @Override
    public long completedUserData() {
        return refused ? refusedUserData : event(EVENT_USER_DATA);
    }

    @Override
    public int completedResult() {
        return refused ? refusedResult : (int) event(EVENT_RESULT);
    }

    private long event(int field) {
        return takenNext < takenEnd
                ? taken.get(NativeLinker.LONG, (long) EVENT_BYTES * takenNext + field)
                : ring.get(NativeLinker.LONG, RING_BYTES + (long) EVENT_BYTES * ringHead() + field);
    }

    @Override
    public void next() {
        if (refused) {
            refused = false;
            return;
        }
        if (takenNext < takenEnd) {
            takenNext++;
        } else {
            INT.setRelease(ring, (long) RING_HEAD, (ringHead() + 1) % ringEvents);
        }
        underWay--;
    }

    /** Waits for what is under way, if anything is. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            destroy(context);
        }
    }

    private static void destroy(long context) {
        SystemCall.call(Platform.current().callIoDestroy, context, 0, 0, 0, 0, 0);
    }

    private static StoreIoException failure(int result) {
        return new StoreIoException(-result, Errno.name(-result), "io_setup", NAME, -1);
    }
}
