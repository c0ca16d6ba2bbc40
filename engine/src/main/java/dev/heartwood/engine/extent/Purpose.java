package dev.heartwood.engine.extent;

/** What an extent is wanted for; decides who may take the last ones. */
public enum Purpose {
    /** New data: a sealed memtable on its way to the device. Leaves the reserve alone. */
    WRITE,
    /** Work that will free more space than it takes. May use the reserve. */
    COMPACTION
}
