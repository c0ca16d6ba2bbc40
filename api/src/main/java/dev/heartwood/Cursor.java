package dev.heartwood;

import java.lang.foreign.MemorySegment;

/**
 * Walks the keys of a range in order ({@link KeyOrder}), forwards and backwards, as they were when the cursor was opened. Belongs
 * to one thread at a time. Must be closed.
 *
 * <pre>{@code
 * try (Cursor c = store.cursor(KeyRange.prefix(p))) {
 *     while (c.next()) use(c.key(), c.value());
 * }
 * }</pre>
 *
 * <p>A cursor is before the first key when opened. It then stands on an entry, before the first or after the last. After a move
 * that threw it stands nowhere: {@link #next} and {@link #previous} then throw an {@link IllegalStateException} until one of
 * the other moves has succeeded.
 *
 * <p>Every move returns whether the cursor then stands on an entry. It holds space, and memory of a few pages, until it is closed; memory of recent writes
 * only until somebody wants it, after which the next move takes longer. It ends with the
 * store: after that, and after its own {@link #close}, every other call throws {@link ClosedException}. A move or a close beside a move, by another thread or from
 * within a merge operator, throws an {@link IllegalStateException} and does nothing.
 */
public interface Cursor extends AutoCloseable {
    /** Moves to the next key of the range, or past the last; from before the first it moves to the first. */
    boolean next();

    /** Moves to the previous key of the range, or before the first; from past the last it moves to the last. */
    boolean previous();

    /** Moves to the first key of the range. */
    boolean first();

    /** Moves to the last key of the range. */
    boolean last();

    /**
     * Moves to the first key of the range at or after {@code key}; past the last when there is none.
     *
     * @throws UnorderedStoreException when keys are hashed; the cursor stays where it is. So do the other seeks
     */
    boolean seek(byte[] key);

    /** As {@link #seek(byte[])}. */
    boolean seek(MemorySegment key);

    /** Moves to the last key of the range at or before {@code key}; before the first when there is none. */
    boolean seekBackwards(byte[] key);

    /** As {@link #seekBackwards(byte[])}. */
    boolean seekBackwards(MemorySegment key);

    /**
     * Confines the cursor to those keys of its range that are {@code group} followed by {@link StoreOptions#groupSuffixBytes} bytes, and puts it
     * before the first of them: {@link #last}, seeks and all other moves stay among them, until another group is entered. Meant for
     * groups of few keys, of which there may be none: it reads only where the store's filters say that the group has some.
     *
     * @param group at least one byte
     * @throws IllegalArgumentException when {@code group} has less than one byte
     * @throws UnsupportedOperationException when the store has no groups
     */
    void enterGroup(byte[] group);

    /** Whether the cursor stands on an entry. */
    boolean valid();

    /**
     * A copy of the current key.
     *
     * @throws IllegalStateException when the cursor does not stand on an entry; so do the other accessors
     */
    byte[] key();

    /** A copy of the current value. */
    byte[] value();

    /** A read-only view of the current key, for use until the cursor moves. */
    MemorySegment keySegment();

    /** A read-only view of the current value, for use until the cursor moves. */
    MemorySegment valueSegment();

    /** Lets go of what the cursor holds. Idempotent. */
    @Override
    void close();
}
