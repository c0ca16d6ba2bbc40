/**
 * Maplets: quotient filters that map a key's fingerprint to the branches that may hold the key, so that a search asks one filter
 * for a whole pivot instead of one for each branch.
 *
 * <p>Layer: above {@code cache} and {@code extent}; a sibling of {@code branch}, which it does not know. What a value means, here
 * a number from 0 to 63, is the trunk's affair.
 *
 * <h2>How the parts hang together</h2>
 *
 * <pre>
 *  (MapletBuilder, with the shape that MapletPlan expects to do)
 *
 *  FingerprintBuffer --> EntryBuckets --------+
 *                                             +--> EntryMerge --> MapletPages --> FilterPageWriter --> CachedFile
 *  Maplet --> MapletCursor --> RemappedMaplet-+             +---> MapletFit (when a page overflowed) --> MapletShape
 *                         +--> MapletSlice
 *             (FilterPageReader)
 *
 *  Maplet.lookup --> MapletShape, CachedFile.page --> FilterPage
 * </pre>
 *
 * <h2>Invariants</h2>
 *
 * <ol>
 *   <li>A fingerprint is the first bits of a key's hash; what was recorded is found, always. A maplet errs only by naming a value
 *       too many, for a share of entries / 2^fingerprintBits of the keys that are not in it: below 0.8 %, or 1.6 % with entries of other maplets, unless
 *       it was built from fingerprints that {@code needsRefresh} called too short, or from hashes made to collide.
 *   <li>Fingerprints keep to an order that every maplet shares, and a shorter one is the beginning of a longer one; so maplets
 *       of different sizes merge without the keys.
 *   <li>A page covers a fixed range of fingerprints and is complete in itself: a lookup reads one page.
 *   <li>Entries are pairs of fingerprint and value, each pair once, in ascending order, within their page.
 *   <li>Pages and descriptors do not change once built; a maplet is replaced, never edited. They are read without locks.
 *   <li>Whatever a page holds, reading it touches no byte outside it and ends. A run that cannot be followed is {@link
 *       dev.heartwood.CorruptionException}, never an absent key. The checksum is verified when the page comes from the device.
 *   <li>A build that fails leaves no extent, no page in the cache and no native memory behind.
 * </ol>
 *
 * <h2>Space and memory</h2>
 *
 * <p>From 64 Ki entries on an entry has 12 bits of remainder and value if the values have 4 bits or fewer, and takes under 16
 * bits of the file with everything; with values of 5 or 6 bits, 1 or 2 bits more and up to 18.5. Smaller maplets have longer
 * fingerprints. A build takes 8 bytes of native memory for every fresh entry, in blocks of 16 KiB to 1 MiB, then two
 * buckets' worth to sort in, at least 256 KiB where many hashes are the same, one extent, half an extent for every maplet that it reads, and 8 to 40 KiB for each of them and for what is fresh, to merge
 * entries a thousand at a time. A {@link dev.heartwood.engine.filter.FingerprintBuffer} takes 5 bytes a key.
 *
 * <h2>Locks and shared fields</h2>
 *
 * <p>None but the reference count of {@link dev.heartwood.engine.filter.Maplet}, changed by atomic addition. A maplet is handed
 * to other threads through the trunk's root, which publishes it.
 *
 * <h2>On disk</h2>
 *
 * <p>A filter page is laid out in {@code FilterLayout}, a descriptor in {@code MapletCodec}. Both depend on the key hash ({@link
 * dev.heartwood.engine.base.KeyHash}) and on {@code MapletShape}.
 *
 * <h2>Papers</h2>
 *
 * <p>SplinterDB (ATC'20), section 5.3: quotient filters, built in bulk from sorted hashes. "SplinterDB and Maplets" (SIGMOD'23):
 * one maplet for all branches of a pivot, and the estimate of redundant data from it. Pandey et al., "A General-Purpose Counting
 * Filter" (SIGMOD'17): rank and select in blocks of 64 slots. Differences:
 *
 * <ul>
 *   <li>The fingerprint grows with the number of keys, so that the rate of false positives does not.
 *   <li>The number of pages is any number, not a power of two, so that pages are full; runs do not spill from page to page, so
 *       that a cold lookup reads one page and the pages between an index and the data do not exist.
 *   <li>Redundant data within a maplet is counted when it is built: it is exact but for equal fingerprints. Across maplets it is sampled
 *       ({@code MapletSlice}).
 * </ul>
 */
package dev.heartwood.engine.filter;
