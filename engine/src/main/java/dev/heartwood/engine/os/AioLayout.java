package dev.heartwood.engine.os;

/** Offsets within the structures that a process shares with Linux AIO (uapi/linux/aio_abi.h). Little-endian, as all memory here. */
final class AioLayout {
    /*
     * struct iocb: one operation asked for. The word at IOCB_OPCODE holds the opcode in its low half and the descriptor in its high half;
     * priority and flags are 0.
     */
    static final int IOCB_BYTES = 64;
    static final int IOCB_USER_DATA = 0;
    static final int IOCB_OPCODE = 16;
    static final int IOCB_ADDRESS = 24;
    static final int IOCB_LENGTH = 32;
    static final int IOCB_POSITION = 40;

    static final int OPCODE_READ = 0;
    static final int OPCODE_WRITE = 1;

    /* struct io_event: one operation done. */
    static final int EVENT_BYTES = 32;
    static final int EVENT_USER_DATA = 0;
    static final int EVENT_RESULT = 16;

    /*
     * struct aio_ring, which a context's number is the address of: what is done and was not taken is from the head on, which whoever
     * takes it moves, to the tail, which the kernel moves; both are below the number of events.
     */
    static final int RING_EVENTS = 4;
    static final int RING_HEAD = 8;
    static final int RING_TAIL = 12;
    static final int RING_MAGIC = 16;
    static final int RING_INCOMPATIBLE = 24;
    static final int RING_HEADER_BYTES = 28;
    static final int RING_BYTES = 32;

    static final int MAGIC = 0xA10A10A1;

    private AioLayout() {}
}
