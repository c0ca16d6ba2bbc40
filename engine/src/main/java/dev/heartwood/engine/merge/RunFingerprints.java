package dev.heartwood.engine.merge;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.filter.FingerprintBuffer;
import dev.heartwood.engine.filter.Maplet;
import dev.heartwood.engine.filter.MapletBuilder;
import dev.heartwood.engine.filter.WriteMode;
import dev.heartwood.engine.node.FingerprintPieces;
import dev.heartwood.engine.node.TreeStorage;
import java.util.function.LongSupplier;

/**
 * The fingerprints of a run while it is written and until its maplet is built: in a buffer, and, of runs that are too large for that, in a
 * maplet for each time that the buffer was full. Belongs to one thread.
 */
final class RunFingerprints implements AutoCloseable {
    private final TreeStorage storage;
    private final LongSupplier ids;
    /** Null when all are in the buffer, however many. */
    private final FingerprintPieces pieces;

    private final FingerprintBuffer buffer;
    // Made at once: on a full Java heap a maplet for which there is no place would be lost.
    private final Maplet[] full;
    private int fullCount;

    private RunFingerprints(TreeStorage storage, LongSupplier ids, FingerprintPieces pieces, FingerprintBuffer buffer) {
        this.storage = storage;
        this.ids = ids;
        this.pieces = pieces;
        this.buffer = buffer;
        this.full = new Maplet[pieces == null ? 0 : pieces.maplets()];
    }

    /** Those of a run that is packed, all in a buffer. */
    static RunFingerprints ofPacked(TreeStorage storage) {
        return new RunFingerprints(storage, null, null, new FingerprintBuffer(storage.mergeBuffers()));
    }

    /**
     * Those of a run that is merged.
     *
     * @param ids new ids, for maplets
     */
    static RunFingerprints ofMerged(TreeStorage storage, FingerprintPieces pieces, LongSupplier ids) {
        FingerprintBuffer buffer = new FingerprintBuffer(storage.mergeBuffers(), storage.fingerprintBufferBytes());
        return new RunFingerprints(storage, ids, pieces, buffer);
    }

    /**
     * Adds the hash by which filters know a key.
     *
     * @throws InsufficientMemoryException when there are more than there may be, or memory runs out
     * @throws dev.heartwood.NoSpaceException when there is no extent for a piece
     */
    void add(long hash) {
        if (full.length > 0 && buffer.count() == pieces.pieceEntries()) {
            emptyBuffer();
        }
        buffer.add(hash);
    }

    private void emptyBuffer() {
        if (fullCount == full.length) {
            throw new InsufficientMemoryException("more fingerprints than " + pieces);
        }
        full[fullCount] = new MapletBuilder(storage.briefMaplets(), ids.getAsLong(), WriteMode.MERGED)
                .add(buffer, 0)
                .pieceOf(pieces.mapletEntries())
                .build();
        fullCount++;
        buffer.close();
    }

    /** What is not in maplets; of a run that is packed, all. */
    FingerprintBuffer buffer() {
        return buffer;
    }

    /** Whether some are in maplets. */
    boolean isInPieces() {
        return fullCount > 0;
    }

    /** Adds all of them to a maplet, with one value; they have to stay until it is built. */
    void addTo(MapletBuilder maplet, int value) {
        maplet.add(buffer, value);
        int[] newValues = {value};
        for (int i = 0; i < fullCount; i++) {
            maplet.add(full[i], newValues);
        }
    }

    /** Gives memory and maplets back. */
    @Override
    public void close() {
        buffer.close();
        while (fullCount > 0) {
            fullCount--;
            full[fullCount].release();
        }
    }
}
