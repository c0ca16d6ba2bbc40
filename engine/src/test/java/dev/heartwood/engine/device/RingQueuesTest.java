package dev.heartwood.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.StoreIoException;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.os.Errno;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Queues where the kernel has no ring left, as when other processes have taken all that fs.aio-max-nr allows. */
class RingQueuesTest {
    private static final int PAGE = BlockDevice.ALIGNMENT;

    private final TestDirectory directory = TestDirectory.make();
    private final Directory files = new Directory(directory.path());
    private final MemoryPool memory = MemoryPool.open(1 << 20);
    private final RingPool none = new RingPool(
            entries -> {
                throw new StoreIoException(Errno.EAGAIN, "EAGAIN", "io_setup", "Linux AIO", -1);
            },
            1);
    private FileDevice device;

    @AfterEach
    void close() {
        device.close();
        files.close();
        memory.close();
        directory.close();
    }

    private FileDevice device(FileDevice.Queues queues) {
        device = new FileDevice(DataFiles.create(files, "data", IoMode.DIRECT), DeviceBinding.POSIX.calls(), queues);
        device.allocate(2 * PAGE);
        return device;
    }

    @Test
    void othersComeInstead() {
        RingQueues queues = new RingQueues(none, ImmediateQueue::new);
        assertTrue(queues.overlap());
        long page = memory.allocate(PAGE);
        Memory.putLong(page, 7);
        try (IoQueue queue = device(queues).newQueue(2)) {
            queue.write(PAGE, page, PAGE, 1);
            assertEquals(1, queue.await());
            Memory.putLong(page, 0);
            queue.read(PAGE, page, PAGE, 2);
            assertEquals(2, queue.await());
            assertEquals(7, Memory.getLong(page));
        }
    }

    @Test
    void withoutOthersItIsSaid() {
        FileDevice fresh = device(new RingQueues(none));
        assertEquals("io_setup", assertThrows(StoreIoException.class, () -> fresh.newQueue(2)).operation());
    }
}
