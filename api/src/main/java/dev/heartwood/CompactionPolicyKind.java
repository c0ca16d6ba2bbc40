package dev.heartwood;

/** How lazily the tree merges: what is saved on writes is paid by scans and space. */
public enum CompactionPolicyKind {
    /**
     * Runs wait in a node until one child has twice as many as the fanout, or four memtables of bytes, which then move on. What has come to a node
     * so becomes one run; of those some become one when a leaf has more than twice the fanout, and a node above more than four times: the
     * fewest bytes written (SplinterDB, section 2).
     */
    SIZE_TIERED,
    /** Few runs in the leaves, many above them: cheaper scans, more bytes written (lazy levelling). */
    LAZY_LEVELING,
    /**
     * The runs of each node form levels that double in size and hold every key once, and a leaf is one level: the cheapest scans and the
     * least space, the most bytes written (TurtleKV, section 3).
     */
    LEVEL_TIERED,
    /**
     * The store decides by itself, once a second, from what happened in it: bytes written, scans, how many runs and pages they looked into
     * and how many entries they showed, pages that reads missed, what the background owes. It begins with {@link #SIZE_TIERED} everywhere.
     *
     * <ul>
     *   <li>The leaves go over to {@link #LAZY_LEVELING}, and nodes above them to {@link #LEVEL_TIERED}, when what scans would be
     *       spared is worth more than the bytes that are written for it, and what has to be merged first is earned again within half
     *       a minute. When scans keep to a part of the keys, only the nodes of that part do. They go back when the bytes written are
     *       worth more. In a store that is hardly written that happens when nobody scans, for scans of the last minutes.
     *   <li>Where half of the page cache holds more memtables than the checkpoint distance that was asked for, the distance becomes eight
     *       times as many, but no more than that half holds once the logs of all stores of the environment between checkpoints would
     *       pass 1 GiB, while the writes are worth it, and again what was asked for when reads that miss the cache cost more.
     *   <li>While so little is written to all stores of the environment that it would take twenty seconds or more to fill a memtable, the
     *       environment lends its record cache the memory for memtables that none of them has, but for half of one. The cache gives back
     *       what a memtable needs, and all of it when more is written. Once the page cache is full it has what memtables and merges do not
     *       use at the moment, or instead of records where more is found in pages, and gives back what they want.
     *   <li>When nothing was asked of the store for five seconds, what merges free is freed. After ten, leaves that scans of the last minutes
     *       came to are merged whole, one after the other until something is asked, if such scans coming again would be spared more.
     * </ul>
     *
     * <p>A change takes two seconds of a clear advantage, and the next one of its kind ten more; that time doubles, up to five minutes,
     * with each change that is taken back soon. Over any long time there is no more than about one change in thirty seconds of each kind,
     * however the load varies; only the checkpoint distance comes down at once where stores are opened that share the memory for logs. The
     * listener is told of each, and of memory only that it is lent and that records have given theirs back: {@link
     * StoreListener#policyChange}. No call waits for a decision.
     */
    AUTO
}
