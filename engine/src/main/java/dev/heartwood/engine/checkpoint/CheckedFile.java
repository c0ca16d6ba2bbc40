package dev.heartwood.engine.checkpoint;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.base.ImageReader;
import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.device.Storage;
import java.util.Arrays;
import java.util.zip.CRC32C;

/**
 * A small file of metadata that is written whole, with its checksum in front. Stateless.
 *
 * <pre>
 *  0        4
 *  +--------+---------
 *  | crc32c | image
 *  +--------+---------
 * </pre>
 */
public final class CheckedFile {
    private static final int IMAGE = 4;
    private static final int BYTES_MAX = 256 << 20;

    /** Of files that say a few numbers. */
    public static final int MARK_BYTES_MAX = 4096;

    private CheckedFile() {}

    /** Puts a file with this image in place, in one step and durably. */
    public static void write(Storage files, String name, ImageWriter image) {
        byte[] bytes = image.toBytes();
        byte[] file = Arrays.copyOf(new ImageWriter().putInt(checksum(bytes)).toBytes(), IMAGE + bytes.length);
        System.arraycopy(bytes, 0, file, IMAGE, bytes.length);
        files.writeFile(name, file);
    }

    /** As the other, of a file that has as many places or pages as a store. */
    public static ImageReader read(Storage files, String name) {
        return read(files, name, BYTES_MAX);
    }

    /**
     * The image of a file; null when there is no such file.
     *
     * @param bytesMax how long it may be; what is longer is not read
     * @throws CorruptionException when it is not as it was written
     */
    public static ImageReader read(Storage files, String name, int bytesMax) {
        if (!files.exists(name)) {
            return null;
        }
        if (files.size(name) > bytesMax) {
            throw damaged(files, name, "at most " + bytesMax + " bytes", "a file of " + files.size(name));
        }
        byte[] file = files.readFile(name, bytesMax);
        byte[] image = file.length < IMAGE ? file : Arrays.copyOfRange(file, IMAGE, file.length);
        if (file.length < IMAGE || new ImageReader(file).getInt() != checksum(image)) {
            throw damaged(files, name, "contents with their checksum", file.length + " others");
        }
        return new ImageReader(image);
    }

    /** What to throw of a file that does not make sense. */
    public static CorruptionException damaged(Storage files, String name, String expected, String found) {
        return new CorruptionException(files.directory().resolve(name).toString(), 0, "FILE", expected, found);
    }

    private static int checksum(byte[] bytes) {
        CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length);
        return (int) crc.getValue();
    }
}
