package dev.heartwood.engine.device;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Clock;

/**
 * How the data files of a process are driven: the system calls and the queues. One of each kind, made when it is first
 * asked for.
 */
enum DeviceBinding {
    POSIX,
    JNR,
    AIO,
    URING,
    /** io_uring to wait for a read, and AIO to have several under way, which nobody has to wait for because of the thread that began them. */
    URING_AND_AIO;

    /** Threads that poll give way to each other. */
    private static final int POLLING_THREADS_PER_PROCESSOR = 4;

    private static final System.Logger LOGGER = System.getLogger("dev.heartwood");

    private static final class Posix {
        static final DeviceCalls CALLS = new PosixCalls();
    }

    private static final class Jnr {
        static final DeviceCalls CALLS = new JnrCalls();
    }

    private static final class Polled {
        static final TransferLoop.Call READS = new PolledReads(
                Posix.CALLS::pread,
                RingPool.POLLED,
                new PollingPatience(Clock.SYSTEM, Thread::yield),
                Math.min(
                        POLLING_THREADS_PER_PROCESSOR * Runtime.getRuntime().availableProcessors(),
                        RingPool.POLLED_MAX));
    }

    private static final class Queues {
        static final FileDevice.Queues IMMEDIATE = ImmediateQueue::new;
        static final FileDevice.Queues URING = new RingQueues(RingPool.URING);
        static final FileDevice.Queues AIO = new RingQueues(RingPool.AIO, IMMEDIATE);
        static final FileDevice.Queues AIO_OR_URING = new RingQueues(RingPool.AIO, URING);
    }

    /** Asks the kernel once per process; the class is loaded at the first question. */
    private static final class Probe {
        static final DeviceBinding AUTO = automatic();

        private static DeviceBinding automatic() {
            boolean hasUring = has(RingPool.URING, "io_uring", "threads that wait for a page sleep");
            boolean hasAio = has(RingPool.AIO, "Linux AIO", hasUring ? "io_uring begins reads" : "no read is begun before it is waited for");
            if (hasUring) {
                return hasAio ? URING_AND_AIO : URING;
            }
            return hasAio ? AIO : POSIX;
        }

        private static boolean has(RingPool pool, String name, String otherwise) {
            try {
                tryOut(pool);
                return true;
            } catch (StoreIoException e) {
                LOGGER.log(
                        System.Logger.Level.INFO,
                        "{0} is not available here ({1}: {2}); {3}",
                        name,
                        e.operation(),
                        e.errnoName(),
                        otherwise);
                return false;
            }
        }
    }

    /** The system calls. */
    DeviceCalls calls() {
        return this == JNR ? Jnr.CALLS : Posix.CALLS;
    }

    /** What reads a file that was opened so, and waits for it. */
    TransferLoop.Call reads(IoMode mode) {
        // What goes through the system's cache is mostly there, and io_uring would have other threads read what is not.
        return usesUring() && mode == IoMode.DIRECT ? Polled.READS : calls()::pread;
    }

    /** What makes the queues of a file that was opened so. AIO would do in turn what goes through the system's cache. */
    FileDevice.Queues queues(IoMode mode) {
        boolean isDirect = mode == IoMode.DIRECT;
        return switch (this) {
            case POSIX, JNR -> Queues.IMMEDIATE;
            case AIO -> isDirect ? Queues.AIO : Queues.IMMEDIATE;
            case URING -> Queues.URING;
            case URING_AND_AIO -> isDirect ? Queues.AIO_OR_URING : Queues.URING;
        };
    }

    boolean usesUring() {
        return this == URING || this == URING_AND_AIO;
    }

    private static void tryOut(RingPool pool) {
        pool.give(pool.take(1));
    }

    /**
     * What {@code kind} means on this machine.
     *
     * @throws StoreIoException when io_uring or AIO is asked for by name and denied
     * @throws IllegalStateException when jnr-ffi is asked for and missing
     */
    static DeviceBinding of(DeviceKind kind) {
        return switch (kind) {
            case AUTO -> Probe.AUTO;
            case URING -> {
                tryOut(RingPool.URING);
                yield URING;
            }
            case AIO -> {
                tryOut(RingPool.AIO);
                yield AIO;
            }
            case POSIX -> POSIX;
            case JNR -> {
                try {
                    JNR.calls();
                } catch (LinkageError e) {
                    throw new IllegalStateException(
                            "DeviceKind.JNR needs com.github.jnr:jnr-ffi on the class path", e);
                }
                yield JNR;
            }
        };
    }
}
