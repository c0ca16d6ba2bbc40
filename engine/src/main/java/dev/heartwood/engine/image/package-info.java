/**
 * Nodes as they are stored: {@code NodeCodec} encodes one, {@code NodePages} packs them into extents; {@code TreeWalk} reads the images
 * of a tree and shows a visitor what is in them, also past damage, and {@code RootSearch} looks for a root that nothing names any more.
 *
 * <p>Layer: above {@code node}; below {@code trunk}, whose {@code TrunkImages} decides what is written, and {@code verify} and
 * {@code salvage}, which walk.
 */
package dev.heartwood.engine.image;
