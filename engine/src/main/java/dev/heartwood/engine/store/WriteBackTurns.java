package dev.heartwood.engine.store;

import dev.heartwood.engine.cache.PageCache;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Workers;
import java.util.concurrent.atomic.AtomicBoolean;

/** Writes dirty pages back in the background, one task at a time, as long as the cache asks for it. Thread-safe. */
final class WriteBackTurns {
    /*
     * The cache asks once, and again only after writing back has begun anew. Who asks while a task runs finds `running` set and
     * goes away; the task looks whether it was asked after it has said that it runs no more. So one of the two sees the other.
     */
    private final PageCache cache;
    private final Workers workers;
    private final AtomicBoolean running = new AtomicBoolean();
    private final Runnable task = this::write;

    WriteBackTurns(PageCache cache, Workers workers) {
        this.cache = cache;
        this.workers = workers;
    }

    /** Has some pages written back, unless that is under way. */
    void runSoon() {
        if (!running.compareAndSet(false, true)) {
            return;
        }
        try {
            workers.submit(Priority.CHECKPOINT, task);
        } catch (RuntimeException | Error e) {
            // In this order: who asked anew while it counts as running would go away, and nobody would come.
            running.set(false);
            cache.forgetWriteBackAsked();
            throw e;
        }
    }

    private void write() {
        boolean more = false;
        try {
            more = cache.writeBackSome();
        } finally {
            running.set(false);
            if (more || cache.isWriteBackAsked()) {
                runSoon();
            }
        }
    }
}
