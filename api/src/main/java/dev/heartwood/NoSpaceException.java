package dev.heartwood;

/**
 * The device is full, or the data file is as large as {@link StoreOptions#diskMax()} allows. Nothing of the refused write has happened;
 * reads go on. Deletes are writes and are refused as well: room is made on the device, which the store then takes without being
 * reopened, or by a larger limit at the next open.
 */
public final class NoSpaceException extends StoreException {
    /** Says what is full. */
    public NoSpaceException(String message) {
        super(message, null);
    }
}
