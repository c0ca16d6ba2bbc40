package dev.heartwood.engine.base;

/**
 * Walks entries in order: by key, and the versions of a key from newest to oldest. Stands on an entry or on none. Belongs to one
 * thread at a time.
 *
 * <p>The addresses returned by the accessors are native and stay readable until the cursor moves or closes.
 */
public interface EntryCursor extends AutoCloseable {
    /** Whether the cursor stands on an entry. */
    boolean valid();

    /** Moves to the first entry. */
    void seekFirst();

    /** Moves to the last entry (the oldest version of the greatest key). */
    void seekLast();

    /** Moves to the first entry whose key is at or after the given one. */
    void seek(long keyAddress, int keyLength);

    /** Moves to the last entry whose key is before the given one. */
    void seekBefore(long keyAddress, int keyLength);

    /**
     * Says that {@link #seek} to this key comes next, so that what it needs can be read meanwhile; moves nothing.
     *
     * @return whether something has to be read from the device
     */
    default boolean seekAhead(long keyAddress, int keyLength) {
        return false;
    }

    /** As {@link #seekAhead}, for {@link #seekBefore}. */
    default boolean seekBeforeAhead(long keyAddress, int keyLength) {
        return false;
    }

    /** Says that something else than {@link #seekAhead} or {@link #seekBeforeAhead} announced may come next. */
    default void forgetAhead() {}

    /** Moves on; only when {@link #valid}. */
    void next();

    /** Moves back; only when {@link #valid}. */
    void previous();

    /** Address of the whole key. */
    long keyAddress();

    int keyLength();

    long sequence();

    /** One of {@link Entries}. */
    byte kind();

    /** Address of the whole value; 0 when {@link #valueLength} is 0. */
    long valueAddress();

    int valueLength();

    /** Copies the whole value to the beginning of an array that has room for it; never needs memory to put it together. */
    void copyValue(byte[] to);

    /** A copy of the whole value. */
    default byte[] value() {
        byte[] copy = new byte[valueLength()];
        copyValue(copy);
        return copy;
    }

    @Override
    void close();
}
