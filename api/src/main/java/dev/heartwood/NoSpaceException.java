package dev.heartwood;

/**
 * The device is full, or a file is as long as its file system or the process's limit lets files be, or the data file as large as {@link
 * StoreOptions#diskMax()} allows. Nothing of a write that is refused has happened;
 * {@link Environment#open} and {@link KeyValueStore#backup} say what they leave. Reads go on. Writes that only delete are still taken, from a
 * reserve, and {@link KeyValueStore#discard} always is. Deletes may be refused too beside open snapshots or cursors, once what those see fills
 * the limit; with keys of tens of KiB in a few MiB; and with {@link StoreOptions.FreeSpace#RETURN}. What deletes make room for
 * is there once merges have removed what was deleted, which the next write waits for, or {@link KeyValueStore#settle}; small parts of what
 * lies in a place may have to wait for more. Room that is made on the device is taken without the store being reopened, a larger limit at
 * the next open.
 */
public final class NoSpaceException extends StoreException {
    /** Says what is full. */
    public NoSpaceException(String message) {
        super(message, null);
    }
}
