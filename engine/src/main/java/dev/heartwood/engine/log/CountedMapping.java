package dev.heartwood.engine.log;

import dev.heartwood.engine.device.MappedFile;
import java.util.concurrent.atomic.AtomicLong;

/** A mapped segment that counts what of it is in memory. Thread-safe as mapped files are. */
final class CountedMapping implements MappedFile {
    private final MappedFile file;
    private final AtomicLong bytesHeld;
    /** What of this one was counted; taken by whoever closes it. */
    private final AtomicLong bytesHere = new AtomicLong();

    /** @param bytesHeld of all that are counted together */
    CountedMapping(MappedFile file, AtomicLong bytesHeld) {
        this.file = file;
        this.bytesHeld = bytesHeld;
        count(file.windowEnd());
    }

    private void count(long bytes) {
        bytesHeld.addAndGet(bytes - bytesHere.getAndSet(bytes));
    }

    @Override
    public String name() {
        return file.name();
    }

    @Override
    public long address() {
        return file.address();
    }

    @Override
    public long length() {
        return file.length();
    }

    @Override
    public long windowEnd() {
        return file.windowEnd();
    }

    @Override
    public void slide(long begin, long end) {
        file.slide(begin, end);
        count(end - begin);
    }

    @Override
    public void rest() {
        file.rest();
        count(0);
    }

    @Override
    public void sync(long offset, long length) {
        file.sync(offset, length);
    }

    @Override
    public void close() {
        file.close();
        count(0);
    }
}
