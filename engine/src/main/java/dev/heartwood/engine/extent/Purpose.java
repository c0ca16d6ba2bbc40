package dev.heartwood.engine.extent;

/** What an extent is wanted for; decides who may take the last ones. */
public enum Purpose {
    /** A sealed memtable on its way to the device, whose extents were promised. May take whatever is left. */
    PACKING,
    /** The image of the trunk, without which nothing that was freed may be used again. May take whatever is left. */
    CHECKPOINT,
    /** Work that frees more space than it takes, but later. Leaves alone what was promised, and the reserve for deletes. */
    COMPACTION
}
