package dev.heartwood.engine.device;

/**
 * A file as it was opened.
 *
 * @param name what errors call it
 * @param descriptor its descriptor
 * @param size its size in bytes
 * @param fixedSize whether it is a block special file, which does not grow
 */
record OpenFile(String name, int descriptor, long size, boolean fixedSize) {}
