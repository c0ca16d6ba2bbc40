package dev.heartwood.engine.os;

/**
 * Offsets within the structures that a process shares with io_uring (uapi/linux/io_uring.h). Little-endian, as all
 * memory here.
 */
final class UringLayout {
    /* struct io_uring_params: filled in by the kernel when a ring is made. */
    static final int PARAMS_BYTES = 120;
    static final int PARAMS_SUBMISSION_ENTRIES = 0;
    static final int PARAMS_COMPLETION_ENTRIES = 4;
    static final int PARAMS_FLAGS = 8;
    static final int PARAMS_FEATURES = 20;
    static final int PARAMS_SUBMISSION = 40;
    static final int PARAMS_COMPLETION = 80;

    /* struct io_sqring_offsets, from PARAMS_SUBMISSION on. */
    static final int SUBMISSION_HEAD = PARAMS_SUBMISSION;
    static final int SUBMISSION_TAIL = PARAMS_SUBMISSION + 4;
    static final int SUBMISSION_ARRAY = PARAMS_SUBMISSION + 24;

    /* struct io_cqring_offsets, from PARAMS_COMPLETION on. */
    static final int COMPLETION_HEAD = PARAMS_COMPLETION;
    static final int COMPLETION_TAIL = PARAMS_COMPLETION + 4;
    static final int COMPLETION_ENTRIES = PARAMS_COMPLETION + 20;

    /*
     * struct io_uring_sqe: one operation asked for. The word at SQE_OPCODE holds the opcode in byte 0 and the
     * descriptor from byte 4 on, the word at SQE_LENGTH the length in its low half; flags and priorities in between
     * are 0.
     */
    static final int SQE_BYTES = 64;
    static final int SQE_OPCODE = 0;
    static final int SQE_POSITION = 8;
    static final int SQE_ADDRESS = 16;
    static final int SQE_LENGTH = 24;
    static final int SQE_USER_DATA = 32;

    /* struct io_uring_cqe: one operation done. */
    static final int CQE_BYTES = 16;
    static final int CQE_USER_DATA = 0;
    static final int CQE_RESULT = 8;

    static final int OPCODE_READ = 22;
    static final int OPCODE_WRITE = 23;

    static final int ENTER_GET_EVENTS = 1;

    /* Completions are posted when the thread that submitted enters the kernel, and do not interrupt it (Linux 5.19). */
    static final int SETUP_COOPERATIVE = 1 << 8;

    /* Both rings in one mapping; no completion is ever dropped; READ and WRITE exist (Linux 5.6). */
    static final int FEATURE_SINGLE_MAPPING = 1;
    static final int FEATURE_NO_DROP = 1 << 1;
    static final int FEATURE_READ_WRITE = 1 << 3;
    static final int FEATURES_NEEDED = FEATURE_SINGLE_MAPPING | FEATURE_NO_DROP | FEATURE_READ_WRITE;

    /* Offsets for mmap that name the parts of a ring. */
    static final long MAP_RINGS = 0;
    static final long MAP_ENTRIES = 0x10000000L;

    private UringLayout() {}
}
