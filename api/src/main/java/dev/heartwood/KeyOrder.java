package dev.heartwood;

/** What orders the keys of a store. Chosen when the store is made; it cannot change afterwards. */
public enum KeyOrder {
    /** By their bytes, unsigned: cursors walk ranges, and keys that are near each other lie near each other. */
    SORTED,
    /**
     * By a 64-bit hash, which spreads any keys evenly: loads of very small records, some 16 bytes, cost less, and what needs an order of
     * the keys is refused with {@link UnorderedStoreException}. Cursors over all keys walk them in the order of their hashes, which is the same
     * for every cursor and says nothing about the keys (WriteBuffer tree).
     */
    HASHED
}
