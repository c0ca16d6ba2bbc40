package dev.heartwood.testkit;

/** The kinds of operations on a storage that can be counted, watched and made to fail. */
public enum OperationKind {
    LOCK,
    LIST,
    READ_FILE,
    WRITE_FILE,
    CREATE,
    OPEN,
    READ,
    WRITE,
    SYNC,
    ALLOCATE,
    DISCARD,
    MAP,
    MAP_EXISTING,
    SYNC_MAPPED,
    DELETE,
    SYNC_DIRECTORY,
    SLIDE
}
