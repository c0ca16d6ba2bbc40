package dev.heartwood.engine.checkpoint;

import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.base.ImageWriter;
import java.util.Arrays;

/**
 * What a store is found by: its identity, its options, and the root of the last checkpoint.
 *
 * @param format the version of everything stored
 * @param storeId the store's identity, in every page
 * @param number counts checkpoints
 * @param generation memtables up to this generation are in the tree
 * @param sequence no entry in the tree has a greater sequence number
 * @param nextId branches, maplets and bundles have smaller ids, and trunk nodes smaller generations
 * @param rootPages the pages of the root's image; empty when the tree is empty
 * @param rootGeneration the generation those pages carry
 * @param options the printed options
 */
public record Superblock(
        int format,
        long storeId,
        long number,
        long generation,
        long sequence,
        long nextId,
        long[] rootPages,
        long rootGeneration,
        String options) {

    /** More than any store can reach, and far from where adding to it overflows. */
    private static final long COUNT_MAX = 1L << 60;

    /** Whether both say the same. */
    public boolean sameAs(Superblock other) {
        return Arrays.equals(encode(), other.encode());
    }

    /** The image stored in a superblock page. */
    byte[] encode() {
        ImageWriter image = new ImageWriter();
        image.putInt(format).putLong(storeId).putLong(number).putLong(generation).putLong(sequence).putLong(nextId);
        image.putLong(rootGeneration);
        if (format < FormatVersion.V4.number()) {
            encodePages(rootPages, image);
        } else {
            PageRanges.encode(rootPages, image);
        }
        image.putString(options);
        return image.toBytes();
    }

    /** The format of an image, which tells whether the rest can be read. */
    static int formatOf(byte[] bytes) {
        return new ImageReader(bytes).getInt();
    }

    /** What counts from 0 or 1 and will be counted on. */
    private static void requireCount(String name, long value) {
        if (value < 0 || value > COUNT_MAX) {
            throw new MalformedImageException("a " + name + " of " + value);
        }
    }

    /** The pages of a root one by one, as versions before the fourth have them. */
    private static void encodePages(long[] pages, ImageWriter image) {
        image.putVarint(pages.length);
        for (long page : pages) {
            image.putVarint(page);
        }
    }

    /** Reads {@link #encodePages} back. */
    private static long[] decodePages(ImageReader image) {
        long[] pages = new long[image.getCount()];
        for (int i = 0; i < pages.length; i++) {
            pages[i] = image.getVarint();
            requireCount("root page", pages[i]);
        }
        return pages;
    }

    /** Reads {@link #encode} back; throws {@link MalformedImageException} on anything else. */
    static Superblock decode(byte[] bytes) {
        ImageReader image = new ImageReader(bytes);
        int format = image.getInt();
        long storeId = image.getLong();
        long number = image.getLong();
        long generation = image.getLong();
        long sequence = image.getLong();
        long nextId = image.getLong();
        long rootGeneration = image.getLong();
        long[] rootPages = format < FormatVersion.V4.number() ? decodePages(image) : PageRanges.decode(image);
        requireCount("number", number);
        requireCount("generation", generation);
        requireCount("sequence", sequence);
        requireCount("next id", nextId);
        requireCount("root generation", rootGeneration);
        return new Superblock(
                format, storeId, number, generation, sequence, nextId, rootPages, rootGeneration, image.getString());
    }
}
