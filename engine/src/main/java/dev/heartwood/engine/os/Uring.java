package dev.heartwood.engine.os;

import static dev.heartwood.engine.os.UringLayout.*;

import dev.heartwood.StoreIoException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * One io_uring. What it is asked for is told as done when the thread that asked leaves the kernel, or is interrupted there: not while that
 * waits uninterruptibly.
 */
public final class Uring implements Ring {
    /*
     * Kernel and process share two rings. The process alone moves the submission tail and the completion head, so both
     * are kept in fields as well; the kernel alone moves the submission head and the completion tail. An entry is
     * written before the tail that publishes it (release), and read after the tail that covers it (acquire). The index
     * array between the submission ring and its entries is set to the identity once.
     */
    private static final String NAME = "io_uring";

    private final int descriptor;
    private final int entries;
    private final long rings;
    private final long ringsBytes;
    private final long submissionHead;
    private final long submissionTail;
    private final long completionHead;
    private final long completionTail;
    private final long completions;
    private final int completionMask;
    private final long submissions;

    private int tail;
    private int head;
    private int unsubmitted;
    private boolean closed;

    private Uring(int descriptor, MemorySegment params) {
        this.descriptor = descriptor;
        entries = field(params, PARAMS_SUBMISSION_ENTRIES);
        int completionEntries = field(params, PARAMS_COMPLETION_ENTRIES);
        ringsBytes = Math.max(
                field(params, SUBMISSION_ARRAY) + 4L * entries,
                field(params, COMPLETION_ENTRIES) + (long) CQE_BYTES * completionEntries);
        rings = map(ringsBytes, MAP_RINGS);
        submissionHead = rings + field(params, SUBMISSION_HEAD);
        submissionTail = rings + field(params, SUBMISSION_TAIL);
        completionHead = rings + field(params, COMPLETION_HEAD);
        completionTail = rings + field(params, COMPLETION_TAIL);
        completions = rings + field(params, COMPLETION_ENTRIES);
        completionMask = completionEntries - 1;
        try {
            submissions = map((long) SQE_BYTES * entries, MAP_ENTRIES);
        } catch (Throwable e) {
            unmap(rings, ringsBytes);
            throw e;
        }
        long array = rings + field(params, SUBMISSION_ARRAY);
        for (int i = 0; i < entries; i++) {
            Memory.putInt(array + 4L * i, i);
        }
    }

    /**
     * Makes a ring for {@code entries} operations at once, rounded up to a power of two.
     *
     * @throws StoreIoException when the kernel has no io_uring, denies it, or has too few descriptors or too little
     * memory left
     */
    public static Uring open(int entries) {
        return open(entries, 0);
    }

    /**
     * As {@link #open}, with completions that are posted when the thread that submitted enters the kernel, by whatever call, and do not
     * interrupt it.
     *
     * @throws StoreIoException also when the kernel is older than Linux 5.19
     */
    public static Uring openCooperative(int entries) {
        return open(entries, SETUP_COOPERATIVE);
    }

    private static Uring open(int entries, int flags) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment params = arena.allocate(PARAMS_BYTES, 8);
            params.set(NativeLinker.INT, PARAMS_FLAGS, flags);
            int descriptor =
                    (int) SystemCall.call(SystemCall.IO_URING_SETUP, entries, params.address(), 0, 0, 0, 0);
            if (descriptor < 0) {
                throw failure("io_uring_setup", descriptor);
            }
            try {
                if ((field(params, PARAMS_FEATURES) & FEATURES_NEEDED) != FEATURES_NEEDED) {
                    throw failure("io_uring_setup (Linux 5.6 or later is needed)", -Errno.ENOSYS);
                }
                return new Uring(descriptor, params);
            } catch (Throwable e) {
                FileCalls.close(descriptor);
                throw e;
            }
        }
    }

    @Override
    public int entries() {
        return entries;
    }

    @Override
    public void prepare(boolean isWrite, int file, long address, int length, long position, long userData) {
        assert MemoryRegions.contains(address, length);
        if (tail - Memory.getIntAcquire(submissionHead) >= entries) {
            throw new IllegalStateException("the ring is full");
        }
        long entry = submissions + (long) SQE_BYTES * (tail & entries - 1);
        // Whole words, so that every other field of the reused entry becomes 0.
        Memory.putLong(entry + SQE_OPCODE, (isWrite ? OPCODE_WRITE : OPCODE_READ) | (long) file << 32);
        Memory.putLong(entry + SQE_POSITION, position);
        Memory.putLong(entry + SQE_ADDRESS, address);
        Memory.putLong(entry + SQE_LENGTH, length);
        Memory.putLong(entry + SQE_USER_DATA, userData);
        for (int unused = SQE_USER_DATA + 8; unused < SQE_BYTES; unused += 8) {
            Memory.putLong(entry + unused, 0);
        }
        tail++;
        unsubmitted++;
        Memory.putIntRelease(submissionTail, tail);
    }

    @Override
    public int unsubmitted() {
        return unsubmitted;
    }

    @Override
    public int enter(int completionsMin) {
        int flags = completionsMin > 0 ? ENTER_GET_EVENTS : 0;
        int result = (int) SystemCall.call(
                SystemCall.IO_URING_ENTER, descriptor, unsubmitted, completionsMin, flags, 0, 0);
        if (result > 0) {
            unsubmitted -= result;
        }
        return result;
    }

    @Override
    public String enterCall() {
        return "io_uring_enter";
    }

    @Override
    public boolean isUnderWay() {
        return head != Memory.getIntAcquire(submissionHead);
    }

    @Override
    public boolean completed() {
        return head != Memory.getIntAcquire(completionTail);
    }

    @Override
    public long completedUserData() {
        return Memory.getLong(completion() + CQE_USER_DATA);
    }

    @Override
    public int completedResult() {
        return Memory.getInt(completion() + CQE_RESULT);
    }

    @Override
    public void next() {
        head++;
        Memory.putIntRelease(completionHead, head);
    }

    private long completion() {
        return completions + (long) CQE_BYTES * (head & completionMask);
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            try {
                unmap(submissions, (long) SQE_BYTES * entries);
            } finally {
                closeRings();
            }
        }
    }

    private void closeRings() {
        try {
            unmap(rings, ringsBytes);
        } finally {
            FileCalls.close(descriptor);
        }
    }

    private long map(long bytes, long part) {
        long address = NativeMemory.map(
                bytes,
                NativeMemory.PROT_READ | NativeMemory.PROT_WRITE,
                NativeMemory.MAP_SHARED | NativeMemory.MAP_POPULATE,
                descriptor,
                part);
        if (address < 0) {
            throw failure("mmap", (int) address);
        }
        MemoryRegions.addMapping(address, bytes);
        return address;
    }

    private static void unmap(long address, long bytes) {
        MemoryRegions.remove(address);
        NativeMemory.unmap(address, bytes);
    }

    private static int field(MemorySegment params, int offset) {
        return params.get(NativeLinker.INT, offset);
    }

    private static StoreIoException failure(String operation, int result) {
        return new StoreIoException(-result, Errno.name(-result), operation, NAME, -1);
    }
}
