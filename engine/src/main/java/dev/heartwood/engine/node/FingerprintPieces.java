package dev.heartwood.engine.node;

import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;

/**
 * How the fingerprints of a merged run are held until its maplet is built: all in one buffer, or, where that would take too much of the memory
 * for merges, a piece at a time, each of which becomes a maplet of its own until then. Immutable.
 *
 * @param count how many pieces there are at most; 1 for the buffer alone
 * @param pieceEntries the most entries of a piece, or of the buffer
 * @param mapletEntries entries, about, of the maplet that all of them are for
 */
public record FingerprintPieces(int count, long pieceEntries, long mapletEntries) {
    public static final long FINGERPRINT_BYTES = 5;

    /** A buffer of them all takes no more than this part of the memory for merges. */
    private static final int BUFFER_SHARE = 5;

    /** A piece takes so much less, as it is sorted while the run is being written: one of a few, and one of as many as there may be. */
    private static final double PIECE_SHARE = 0.25;

    private static final double PIECE_SHARE_MAX = 0.4;

    /** Each is read with a buffer of its own when the maplet is built; with more the memory for that would double. */
    private static final int COUNT_MAX = 24;

    /** How many entries there are is told by samples: for one part of so many more there is room. */
    private static final int ESTIMATE_SHARE = 16;

    /** Of a piece's maplet, whose fingerprints are as long as those of the whole. */
    private static final long ENTRY_BYTES = 3;

    /**
     * For a run of about {@code entries}. Of too many for pieces it is one buffer, which may come to be full: there may
     * be fewer than it seems.
     *
     * @param mapletEntries entries, about, of the run and of those that are kept beside it
     * @param bufferBytes what a buffer takes at most
     */
    public static FingerprintPieces of(long entries, long mapletEntries, long bufferBytes) {
        long bufferEntries = bufferBytes / FINGERPRINT_BYTES;
        long most = entries + entries / ESTIMATE_SHARE;
        long pieceEntries = Math.max((long) (bufferEntries * PIECE_SHARE), most / (COUNT_MAX - 1));
        if (most <= bufferEntries || pieceEntries > bufferEntries * PIECE_SHARE_MAX) {
            return new FingerprintPieces(1, bufferEntries, mapletEntries);
        }
        return new FingerprintPieces((int) (most / pieceEntries) + 1, pieceEntries, mapletEntries);
    }

    /** The same in one buffer. */
    public FingerprintPieces inOneBuffer() {
        return new FingerprintPieces(1, pieceEntries, mapletEntries);
    }

    /** The most that a buffer takes of the memory for merges, in bytes. */
    public static long bufferBytesMax(MemoryPool pool) {
        return pool.capacity() / BUFFER_SHARE;
    }

    public boolean isOneBuffer() {
        return count == 1;
    }

    /** Of so many entries in all, those in the buffer once the run is written. */
    long buffered(long entries) {
        return Math.min(entries, pieceEntries);
    }

    /** Maplets that the run's own is built of. */
    public int maplets() {
        return isOneBuffer() ? 0 : count;
    }

    /** The memory that they take while a run of so many entries is written, in bytes. */
    public long writingBytes(long entries) {
        long bufferBytes = buffered(entries) * FINGERPRINT_BYTES;
        return isOneBuffer() ? bufferBytes : bufferBytes + MapletBuilder.memoryBytes(pieceEntries, 0);
    }

    /** Extents that the maplets of pieces take, about. */
    public long extents() {
        return maplets() * (pieceEntries * ENTRY_BYTES / PageLayout.EXTENT_BYTES + 1);
    }
}
