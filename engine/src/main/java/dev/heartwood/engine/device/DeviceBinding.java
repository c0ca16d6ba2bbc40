package dev.heartwood.engine.device;

import dev.heartwood.DeviceKind;
import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.base.Clock;
import dev.heartwood.engine.os.Uring;

/**
 * How the data files of a process are driven: the system calls and the queues. One of each kind, made when it is first
 * asked for.
 */
enum DeviceBinding implements FileDevice.Queues {
    POSIX {
        @Override
        DeviceCalls calls() {
            return Posix.CALLS;
        }

        @Override
        public IoQueue open(FileDevice device, int depth) {
            return new ImmediateQueue(device, depth);
        }
    },
    JNR {
        @Override
        DeviceCalls calls() {
            return Jnr.CALLS;
        }

        @Override
        public IoQueue open(FileDevice device, int depth) {
            return new ImmediateQueue(device, depth);
        }
    },
    URING {
        @Override
        DeviceCalls calls() {
            return Posix.CALLS;
        }

        @Override
        TransferLoop.Call reads(IoMode mode) {
            // What goes through the system's cache is mostly there, and io_uring would have other threads read what is not.
            return mode == IoMode.DIRECT ? Polled.READS : super.reads(mode);
        }

        @Override
        public IoQueue open(FileDevice device, int depth) {
            return new UringQueue(device, UringPool.SHARED, depth);
        }

        @Override
        public boolean overlap() {
            return true;
        }
    };

    /** Threads that poll give way to each other. */
    private static final int POLLING_THREADS_PER_PROCESSOR = 4;

    private static final System.Logger LOGGER = System.getLogger("dev.heartwood");

    private static final class Posix {
        static final DeviceCalls CALLS = new PosixCalls();
    }

    private static final class Polled {
        static final TransferLoop.Call READS = new PolledReads(
                Posix.CALLS::pread,
                UringPool.POLLED,
                new PollingPatience(Clock.SYSTEM, Thread::yield),
                Math.min(
                        POLLING_THREADS_PER_PROCESSOR * Runtime.getRuntime().availableProcessors(),
                        UringPool.POLLED_MAX));
    }

    private static final class Jnr {
        static final DeviceCalls CALLS = new JnrCalls();
    }

    /** Asks the kernel once per process; the class is loaded at the first question. */
    private static final class Probe {
        static final DeviceBinding AUTO = automatic();

        private static DeviceBinding automatic() {
            try {
                Uring.open(1).close();
                return URING;
            } catch (StoreIoException e) {
                LOGGER.log(
                        System.Logger.Level.INFO,
                        "io_uring is not available here ({0}: {1}); data files are driven by pread and pwrite",
                        e.operation(),
                        e.errnoName());
                return POSIX;
            }
        }
    }

    /** The system calls. */
    abstract DeviceCalls calls();

    /** What reads a file that was opened so, and waits for it. */
    TransferLoop.Call reads(IoMode mode) {
        return calls()::pread;
    }

    /**
     * What {@code kind} means on this machine.
     *
     * @throws StoreIoException when io_uring is asked for by name and denied
     * @throws IllegalStateException when jnr-ffi is asked for and missing
     */
    static DeviceBinding of(DeviceKind kind) {
        return switch (kind) {
            case AUTO -> Probe.AUTO;
            case URING -> {
                Uring.open(1).close();
                yield URING;
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
