package dev.heartwood.engine.device;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.os.Errno;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The loops over interrupted and short transfers, with the results of the system call injected. */
class TransferLoopTest {
    private static final int LENGTH = 64 << 10;
    private static final long POSITION = 1 << 20;
    private static final long ADDRESS = 1 << 30;

    /** Answers from a script, then transfers everything; checks that the caller continues where it stopped. */
    private static final class Script implements TransferLoop.Call {
        private final long[] results;
        private final List<Long> offsets = new ArrayList<>();
        private int next;

        Script(long... results) {
            this.results = results;
        }

        @Override
        public long transfer(int descriptor, long address, long length, long position) {
            assertEquals(7, descriptor);
            assertEquals(address - ADDRESS, position - POSITION);
            assertEquals(LENGTH, address - ADDRESS + length);
            assertEquals(0, address % TransferLoop.SECTOR_BYTES);
            offsets.add(address - ADDRESS);
            return next < results.length ? results[next++] : length;
        }

        void read() {
            TransferLoop.read(this, 7, POSITION, ADDRESS, LENGTH, "file");
        }

        void write() {
            TransferLoop.write(this, 7, POSITION, ADDRESS, LENGTH, "file");
        }
    }

    @Test
    void repeatsWhatWasInterrupted() {
        Script script = new Script(-Errno.EINTR, -Errno.EAGAIN, -Errno.EINTR);
        script.read();
        assertEquals(List.of(0L, 0L, 0L, 0L), script.offsets);
    }

    @Test
    void continuesShortTransfersAtASector() {
        Script script = new Script(4096, 100, 1000, -Errno.EINTR, 8192 + 511);
        script.write();
        assertEquals(List.of(0L, 4096L, 4096L, 4608L, 4608L, 12800L), script.offsets);
    }

    @Test
    void anyShortLengthsEndInAWholeTransfer() {
        long seed = 99;
        SplittableRandom random = new SplittableRandom(seed);
        for (int round = 0; round < 200; round++) {
            long[] results = new long[300];
            for (int i = 0; i < results.length; i++) {
                results[i] = random.nextInt(4) == 0 ? -Errno.EINTR : 512 + random.nextInt(2000);
            }
            Script script = new Script(results);
            script.write();
            assertTrue(script.offsets.getLast() + 2512 >= LENGTH, "seed " + seed + ", round " + round);
        }
    }

    @Test
    void namesErrors() {
        ReadFailedException read = assertThrows(ReadFailedException.class, () -> new Script(512, -Errno.EIO).read());
        assertEquals("EIO", read.errnoName());
        assertEquals("pread", read.operation());
        assertEquals(POSITION + 512, read.offset());
        assertThrows(NoSpaceException.class, () -> new Script(-Errno.ENOSPC).write());
        assertThrows(NoSpaceException.class, () -> new Script(-Errno.EDQUOT).write());
        for (int errno : new int[] {Errno.EROFS, Errno.EACCES, Errno.EFBIG, Errno.EBADF}) {
            StoreIoException e = assertThrows(StoreIoException.class, () -> new Script(-errno).write());
            assertEquals(StoreIoException.class, e.getClass());
            assertEquals(errno, e.errno());
            assertEquals(Errno.name(errno), e.errnoName());
        }
    }

    @Test
    void transfersThatGetNowhereEnd() {
        assertThrows(CorruptionException.class, () -> new Script(new long[100]).read());
        assertThrows(StoreIoException.class, () -> new Script(new long[100]).write());
    }
}
