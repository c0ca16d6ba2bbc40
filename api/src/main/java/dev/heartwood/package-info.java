/**
 * The interface of Heartwood, an embedded, ordered key-value store.
 *
 * <p>Start at {@link dev.heartwood.Heartwood#open(java.nio.file.Path)}. Invariants of everything in this package:
 *
 * <ol>
 *   <li>Keys are compared as unsigned bytes, lexicographically; a key that is a prefix of another comes first. In a store of {@link
 *       dev.heartwood.KeyOrder#HASHED} their hashes order them.
 *   <li>A key has 0 to {@value dev.heartwood.KeyValueStore#KEY_BYTES_MAX} bytes, a value 0 to
 *       {@value dev.heartwood.KeyValueStore#VALUE_BYTES_MAX} bytes. Anything longer is refused with
 *       {@link dev.heartwood.TooLargeException} before anything changes. What fits into a budget is less: see {@link
 *       dev.heartwood.KeyValueStore#put(byte[], byte[])}.
 *   <li>Every failure is either a {@link dev.heartwood.StoreException} (the store, its files or its machine) or a standard
 *       exception such as {@link java.lang.NullPointerException} (the caller).
 *   <li>Everything is safe for use by many threads, except {@link dev.heartwood.Cursor} and
 *       {@link dev.heartwood.WriteBatch}, which belong to one thread at a time.
 *   <li>A {@link java.lang.foreign.MemorySegment} given to the store is read, or written if it is a destination, before the call returns
 *       and never kept.
 * </ol>
 */
package dev.heartwood;
