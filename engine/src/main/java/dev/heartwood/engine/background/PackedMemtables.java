package dev.heartwood.engine.background;

import dev.heartwood.engine.trunk.Trunk;

/**
 * Memtables that were packed since the last checkpoint, all of which the log has.
 *
 * @param memtables how many; generations of the log count here that may have been packed as one
 * @param bytes what they had taken in memory for their records: as a rule no more than full ones, but an empty memtable takes any entry
 * @param largestBytes what the largest had taken that the store itself filled
 * @param extents what each takes once it is packed, all together, as a rule no more
 */
public record PackedMemtables(int memtables, long bytes, long largestBytes, long extents) {
    public static final PackedMemtables NONE = new PackedMemtables(0, 0, 0, 0);

    /** One memtable with so many bytes of chunks. */
    public static PackedMemtables of(long chunkBytes) {
        return new PackedMemtables(1, chunkBytes, chunkBytes, chunkBytes == 0 ? 0 : Trunk.packedExtents(chunkBytes));
    }

    /** These and others. Makes nothing where one is {@link #NONE}, since the Java heap may be full. */
    public PackedMemtables and(PackedMemtables others) {
        if (this == NONE || others == NONE) {
            return this == NONE ? others : this;
        }
        return new PackedMemtables(
                memtables + others.memtables,
                bytes + others.bytes,
                Math.max(largestBytes, others.largestBytes),
                extents + others.extents);
    }

    /** The same, packed by a replay of so many generations, whose memtables may be larger than any that come. */
    PackedMemtables ofReplay(int generations) {
        return new PackedMemtables(Math.max(memtables, generations), bytes, 0, extents);
    }
}
