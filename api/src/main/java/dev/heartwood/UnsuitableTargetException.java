package dev.heartwood;

/** The directory given for a copy holds something that the copy must not replace, or is where none may be. Nothing has changed. */
public final class UnsuitableTargetException extends StoreException {
    /** Names the directory and what was found there. */
    public UnsuitableTargetException(String directory, String found) {
        super("cannot write a copy to " + directory + ": " + found, null);
    }
}
