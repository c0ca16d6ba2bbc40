package dev.heartwood;

/** The store is open elsewhere, or is just being copied to, in this process or in another. */
public final class LockedException extends StoreException {
    private final long pid;

    /**
     * Names the holder.
     *
     * @param directory the store
     * @param pid the process that has it open, or -1 when it is not known
     */
    public LockedException(String directory, long pid) {
        super(directory + " is open in process " + (pid < 0 ? "(unknown)" : pid), null);
        this.pid = pid;
    }

    /** The process that has the store open, or -1 when it is not known. */
    public long pid() {
        return pid;
    }
}
