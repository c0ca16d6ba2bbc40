package dev.heartwood;

/** A store was to be made where there is one already; it is as it was. */
public final class StoreExistsException extends StoreException {
    /** Names the directory of the store. */
    public StoreExistsException(String directory) {
        super("cannot make a store in " + directory + ": one is there already (openMode CREATE_NEW)", null);
    }
}
