package dev.heartwood.engine.branch;

import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.Memory;
import java.util.Arrays;
import java.util.List;

/**
 * Merges several cursors into one, both ways: by key, and for a key first what the younger source has. A younger source holds
 * newer versions only, so the versions of a key come from newest to oldest even where old sequence numbers have been given up.
 * Closes its sources. Belongs to one thread at a time.
 */
public final class MergeCursor implements LargeValueCursor {
    /*
     * A loser tree [Knuth, The Art of Computer Programming 3, 5.4.1]: node n of 1..k-1 holds the source that lost there, the
     * leaf of source s is node s+k. After the winner moved, only its way to the root is played again.
     *
     * A game compares two numbers, the cached heads of the sources, without a branch; only equal heads look at the keys. A head
     * is 63 bits of a key behind a prefix that most current keys share: 0 below the prefix, the greatest number above it and when
     * the source has ended. That is monotone for whatever prefix, so the prefix can be chosen anew at any time without touching
     * the tree: it is when equal heads have become frequent, as when a scan leaves the keys that have the prefix.
     *
     * Once all sources but one have ended there is nothing left to compare, until the walk turns round or seeks.
     *
     * Going back, heads are complemented and the order of ties is reversed. Going forward every source stands at its first entry
     * at or after the current one, going back at its last one at or before it; to turn round, each steps over the current place.
     */
    private static final long ENDED = Long.MAX_VALUE;
    private static final int TIES_MIN = 8;
    private static final int MOVES_MAX = 256;
    private static final int PREFIX_BYTES_MAX = 255;

    private final EntryCursor[] sources;
    private final int count;
    private final int[] losers;
    private final long[] heads;
    private final byte[] prefix = new byte[PREFIX_BYTES_MAX + 1];
    private final int[] shared;
    private int prefixLength;
    private long prefixWord;
    private long prefixMask;
    private int winner;
    /** Sources that have not ended; the winner is one of them, if any is. */
    private int live;

    private EntryCursor current;
    private boolean backward;
    private int ties;
    private int tiesMax = TIES_MIN;
    private int moves;
    private int reads;

    /** Merges {@code sources}, of which the first is the oldest. */
    public MergeCursor(EntryCursor... sources) {
        this.sources = sources.clone();
        this.count = sources.length;
        this.losers = new int[Math.max(count, 1)];
        this.heads = new long[count];
        this.shared = new int[count];
    }

    /** As the constructor, of a list. */
    public static MergeCursor of(List<? extends EntryCursor> oldestFirst) {
        return new MergeCursor(oldestFirst.toArray(EntryCursor[]::new));
    }

    @Override
    public boolean valid() {
        return current != null;
    }

    @Override
    public void seekFirst() {
        for (EntryCursor source : sources) {
            source.seekFirst();
        }
        begin(false);
    }

    @Override
    public void seekLast() {
        for (EntryCursor source : sources) {
            source.seekLast();
        }
        begin(true);
    }

    @Override
    public void seek(long key, int length) {
        seekAtOnce(key, length, false);
    }

    @Override
    public void seekBefore(long key, int length) {
        seekAtOnce(key, length, true);
    }

    /** All sources read at once what they need, instead of one after the other. */
    private void seekAtOnce(long key, int length, boolean isBefore) {
        reads = 0;
        try {
            for (int i = 0; i < count && count > 1; i++) {
                boolean isRead = isBefore ? sources[i].seekBeforeAhead(key, length) : sources[i].seekAhead(key, length);
                reads += isRead ? 1 : 0;
            }
            seekSources(key, length, isBefore);
        } catch (RuntimeException | Error e) {
            // Those that were not reached must not take it for the place of the next key.
            for (EntryCursor source : sources) {
                source.forgetAhead();
            }
            throw e;
        }
    }

    /** As {@link #seek}, one source after the other. */
    public void seekInTurn(long key, int length) {
        reads = 0;
        seekSources(key, length, false);
    }

    /** As {@link #seekBefore}, one source after the other. */
    public void seekBeforeInTurn(long key, int length) {
        reads = 0;
        seekSources(key, length, true);
    }

    private void seekSources(long key, int length, boolean isBefore) {
        for (EntryCursor source : sources) {
            if (isBefore) {
                source.seekBefore(key, length);
            } else {
                source.seek(key, length);
            }
        }
        begin(isBefore);
    }

    @Override
    public void next() {
        if (backward) {
            turn(false);
            return;
        }
        current.next();
        goOn();
    }

    @Override
    public void previous() {
        if (!backward) {
            turn(true);
            return;
        }
        current.previous();
        goOn();
    }

    private void goOn() {
        if (live > 1) {
            replay();
        } else {
            stand();
        }
    }

    private void turn(boolean toBackward) {
        for (EntryCursor source : sources) {
            if (toBackward) {
                if (source.valid()) {
                    source.previous();
                } else {
                    source.seekLast();
                }
            } else if (source.valid()) {
                source.next();
            } else {
                source.seekFirst();
            }
        }
        begin(toBackward);
    }

    private void begin(boolean goesBackward) {
        backward = goesBackward;
        current = null;
        if (count == 0) {
            return;
        }
        live = 0;
        for (EntryCursor source : sources) {
            live += source.valid() ? 1 : 0;
        }
        choosePrefix(anyValid());
        winner = count == 1 ? 0 : play(1);
        stand();
    }

    private int anyValid() {
        for (int i = 0; i < count; i++) {
            if (sources[i].valid()) {
                return i;
            }
        }
        return 0;
    }

    /** Plays the whole tree below a node; returns the winner. */
    private int play(int node) {
        if (node >= count) {
            return node - count;
        }
        int left = play(2 * node);
        int right = play(2 * node + 1);
        boolean rightWins = heads[right] < heads[left] || heads[right] == heads[left] && precedes(right, left);
        losers[node] = rightWins ? left : right;
        return rightWins ? right : left;
    }

    private void replay() {
        moves++;
        if (ties > tiesMax) {
            // Equal keys tie under every prefix: while new ones help little, the next is chosen later.
            tiesMax = Math.min(2 * tiesMax, MOVES_MAX);
            choosePrefix(winner);
            moves = 0;
            ties = 0;
        } else if (moves == MOVES_MAX) {
            tiesMax = TIES_MIN;
            moves = 0;
            ties = 0;
        }
        int candidate = winner;
        live -= current.valid() ? 0 : 1;
        long head = head(candidate);
        heads[candidate] = head;
        for (int node = candidate + count >>> 1; node > 0; node >>>= 1) {
            int loser = losers[node];
            long other = heads[loser];
            if (other == head) {
                if (precedesTied(loser, candidate)) {
                    losers[node] = candidate;
                    candidate = loser;
                }
                continue;
            }
            // Both are at least 0: the sign of the difference is the order.
            int swap = (int) (other - head >> 63);
            int difference = (candidate ^ loser) & swap;
            losers[node] = loser ^ difference;
            candidate ^= difference;
            head ^= (head ^ other) & swap;
        }
        winner = candidate;
        stand();
    }

    private void stand() {
        EntryCursor source = sources[winner];
        current = source.valid() ? source : null;
    }

    private boolean precedesTied(int a, int b) {
        ties++;
        return precedes(a, b);
    }

    /** Whether source {@code a} comes before {@code b}, in the direction of the walk. */
    private boolean precedes(int a, int b) {
        EntryCursor x = sources[a];
        EntryCursor y = sources[b];
        if (!x.valid() || !y.valid()) {
            return x.valid();
        }
        int order = Memory.compare(x.keyAddress(), x.keyLength(), y.keyAddress(), y.keyLength());
        if (order == 0) {
            order = Integer.compare(b, a);
        }
        return backward ? order > 0 : order < 0;
    }

    private long head(int source) {
        EntryCursor cursor = sources[source];
        if (!cursor.valid()) {
            return ENDED;
        }
        long key = cursor.keyAddress();
        int length = cursor.keyLength();
        int order = comparePrefix(key, length);
        long head;
        if (order != 0) {
            head = order < 0 ? 0 : ENDED;
        } else {
            head = headOf(key + prefixLength, length - prefixLength) >>> 1;
        }
        return backward ? ENDED - head : head;
    }

    /** Below 0 when the key is before everything with the prefix, above 0 when after, 0 when it has it. */
    private int comparePrefix(long key, int length) {
        if (prefixLength <= 8 && length >= 8) {
            return Long.compareUnsigned(Memory.getLongBigEndian(key) & prefixMask, prefixWord);
        }
        return Memory.compare(key, Math.min(length, prefixLength), prefix, prefixLength);
    }

    private static long headOf(long address, int length) {
        if (length >= 8) {
            return Memory.getLongBigEndian(address);
        }
        long head = 0;
        for (int i = 0; i < length; i++) {
            head |= (long) Memory.getUnsignedByte(address + i) << 56 - 8 * i;
        }
        return head;
    }

    /**
     * Takes as the prefix what the key of {@code source} shares with the key in the middle, when the others are ordered by how
     * much they share with it; then makes all heads anew.
     */
    private void choosePrefix(int source) {
        prefixLength = 0;
        EntryCursor first = sources[source];
        if (first.valid()) {
            int others = 0;
            for (int i = 0; i < count; i++) {
                EntryCursor other = sources[i];
                if (i != source && other.valid()) {
                    int lengthMax = Math.min(PREFIX_BYTES_MAX, Math.min(first.keyLength(), other.keyLength()));
                    shared[others++] = Memory.commonPrefix(first.keyAddress(), other.keyAddress(), lengthMax);
                }
            }
            Arrays.sort(shared, 0, others);
            prefixLength = others == 0 ? 0 : shared[others / 2];
            Memory.copyTo(first.keyAddress(), prefix, 0, prefixLength);
        }
        prefixMask = prefixLength == 0 ? 0 : -1L << Math.max(64 - 8 * prefixLength, 0);
        prefixWord = 0;
        for (int i = 0; i < Math.min(prefixLength, 8); i++) {
            prefixWord |= (prefix[i] & 0xffL) << 56 - 8 * i;
        }
        for (int i = 0; i < count; i++) {
            heads[i] = head(i);
        }
    }

    @Override
    public long keyAddress() {
        return current.keyAddress();
    }

    @Override
    public int keyLength() {
        return current.keyLength();
    }

    @Override
    public long sequence() {
        return current.sequence();
    }

    @Override
    public byte kind() {
        return current.kind();
    }

    @Override
    public long valueAddress() {
        return current.valueAddress();
    }

    @Override
    public void copyValue(byte[] to) {
        current.copyValue(to);
    }

    @Override
    public int valueLength() {
        return current.valueLength();
    }

    @Override
    public OverflowGroup largeGroup() {
        return current instanceof LargeValueCursor large ? large.largeGroup() : null;
    }

    @Override
    public long largePosition() {
        return ((LargeValueCursor) current).largePosition();
    }

    @Override
    public void readAheadLarge() {
        ((LargeValueCursor) current).readAheadLarge();
    }

    /** How many of several sources had to read from the device for the last {@link #seek} or {@link #seekBefore}. */
    public int reads() {
        return reads;
    }

    /** The source that the current entry is from: its index at construction. */
    public int sourceIndex() {
        return winner;
    }

    @Override
    public void close() {
        current = null;
        for (EntryCursor source : sources) {
            source.close();
        }
    }
}
