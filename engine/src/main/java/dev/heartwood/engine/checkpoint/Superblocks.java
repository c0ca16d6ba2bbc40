package dev.heartwood.engine.checkpoint;

import dev.heartwood.CorruptionException;
import dev.heartwood.FormatTooNewException;
import dev.heartwood.FormatTooOldException;
import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreOptions;
import dev.heartwood.engine.base.ImageReader.MalformedImageException;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryPool;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * The two copies of the superblock, on pages {@value #FIRST_PAGE} and {@value #SECOND_PAGE}. One thread at a time.
 *
 * <pre>
 *  32      40             44
 *  +-------+--------------+--------------
 *  | magic | image length | image
 *  +-------+--------------+--------------
 * </pre>
 */
public final class Superblocks implements AutoCloseable {
    static final int FIRST_PAGE = 0;
    static final int SECOND_PAGE = 16;

    private static final int MAGIC = PageLayout.BODY;
    private static final int LENGTH = MAGIC + 8;
    private static final int IMAGE = LENGTH + 4;
    private static final long MAGIC_VALUE = 0x31_44_4f_4f_57_54_52_48L;

    private final BlockDevice device;
    private final MemoryPool buffers;
    private long buffer;
    private int[] writeOrder = {FIRST_PAGE, SECOND_PAGE};
    /** Whether both copies were whole when they were read. */
    private boolean hasBoth;

    /** Takes a page of {@code buffers} for reads and writes, until it is closed. */
    public Superblocks(BlockDevice device, MemoryPool buffers) {
        this.device = device;
        this.buffers = buffers;
        this.buffer = buffers.allocate(PageLayout.PAGE_BYTES);
        if (buffer == 0) {
            throw new InsufficientMemoryException("no buffer to read a superblock with");
        }
    }

    @Override
    public void close() {
        if (buffer != 0) {
            buffers.free(buffer, PageLayout.PAGE_BYTES);
            buffer = 0;
        }
    }

    /** Its page of memory, for the caller until it calls anything else here: a checkpoint needs it for nodes before it writes a superblock. */
    public long buffer() {
        return buffer;
    }

    /** The pages of both copies. */
    public static int[] pages() {
        return new int[] {FIRST_PAGE, SECOND_PAGE};
    }

    /** Whether a copy may be among the first bytes of a device, whole or not. */
    public static boolean mayBeAmong(byte[] beginning) {
        byte[] extent = Arrays.copyOf(beginning, PageLayout.EXTENT_BYTES);
        return Arrays.stream(pages()).anyMatch(page -> number(extent, (page << PageLayout.PAGE_SHIFT) + MAGIC) == MAGIC_VALUE);
    }

    /** The number of eight bytes, the least first. */
    static long number(byte[] bytes, int at) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(at);
    }

    /** What was found on one page: a superblock, or why there is none. */
    public record Copy(Superblock superblock, StoreException damage) {}

    /**
     * Both copies as they are; for inspection.
     *
     * @throws FormatTooNewException when a newer version wrote one of the copies
     */
    public Copy[] copies() {
        return new Copy[] {readCopy(FIRST_PAGE), readCopy(SECOND_PAGE)};
    }

    /**
     * The newest whole copy.
     *
     * @throws CorruptionException when neither copy is whole
     * @throws ReadFailedException when that is so because the system refused to read one
     * @throws FormatTooNewException when a newer version wrote one of the copies
     */
    public Superblock read() {
        Copy[] copies = copies();
        Superblock first = copies[0].superblock;
        Superblock second = copies[1].superblock;
        if (first == null && second == null) {
            int thrown = copies[1].damage instanceof ReadFailedException ? 1 : 0;
            copies[thrown].damage.addSuppressed(copies[1 - thrown].damage);
            throw copies[thrown].damage;
        }
        hasBoth = first != null && second != null;
        Superblock newest = newest(copies);
        writeOrder = newest == first ? new int[] {SECOND_PAGE, FIRST_PAGE} : new int[] {FIRST_PAGE, SECOND_PAGE};
        return newest;
    }

    /** The newest of those that are whole, or null. */
    public static Superblock newest(Copy[] copies) {
        Superblock first = copies[0].superblock;
        Superblock second = copies[1].superblock;
        return second == null || first != null && first.number() >= second.number() ? first : second;
    }

    /** The newest of those that are whole and of a store, or null. */
    public static Superblock newest(Copy[] copies, long storeId) {
        Superblock newest = null;
        for (Copy copy : copies) {
            Superblock found = copy.superblock;
            boolean isOfStore = found != null && found.storeId() == storeId;
            newest = isOfStore && (newest == null || found.number() > newest.number()) ? found : newest;
        }
        return newest;
    }

    /**
     * Makes {@code found}, which {@link #read} returned, durable before {@link #write} begins with the other copy: whoever wrote it may have been killed before
     * its sync. It may also have failed there, and another sync then says nothing of what the system has let go of; so the copy that was found is written
     * once more as it is, unless it is the only one.
     */
    public void makeDurable(Superblock found) {
        device.sync();
        if (hasBoth) {
            writeCopy(found, writeOrder[1]);
            device.sync();
        }
    }

    /**
     * Makes both copies name {@code superblock}, one after the other; what it reaches has been synced before. The copy that {@link
     * #read} returned is written last, so that a damaged or older one is never the only one meanwhile.
     */
    public void write(Superblock superblock) {
        for (int page : writeOrder) {
            writeCopy(superblock, page);
            device.sync();
        }
    }

    private void writeCopy(Superblock superblock, int page) {
        byte[] image = superblock.encode();
        if (image.length > PageLayout.PAGE_BYTES - IMAGE) {
            throw new IllegalStateException("superblock of " + image.length + " bytes");
        }
        Memory.fill(buffer, PageLayout.PAGE_BYTES, 0);
        Memory.putLong(buffer + MAGIC, MAGIC_VALUE);
        Memory.putInt(buffer + LENGTH, image.length);
        Memory.copyFrom(image, 0, buffer + IMAGE, image.length);
        PageSeal.seal(buffer, PageType.SUPERBLOCK, superblock.storeId(), page, superblock.number());
        device.write((long) page << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
    }

    private Copy readCopy(int page) {
        try {
            device.read((long) page << PageLayout.PAGE_SHIFT, buffer, PageLayout.PAGE_BYTES);
            long storeId = Memory.getLong(buffer + PageLayout.STORE_ID);
            long number = Memory.getLong(buffer + PageLayout.GENERATION);
            PageSeal.verify(buffer, PageType.SUPERBLOCK, storeId, page, number, device.name());
            int length = Memory.getInt(buffer + LENGTH);
            if (Memory.getLong(buffer + MAGIC) != MAGIC_VALUE || length < 4 || length > PageLayout.PAGE_BYTES - IMAGE) {
                return new Copy(null, damage(page, "a superblock", "no magic or a length of " + length));
            }
            byte[] image = Memory.bytes(buffer + IMAGE, length);
            checkFormat(Superblock.formatOf(image));
            Superblock superblock = Superblock.decode(image);
            if (superblock.storeId() != storeId || superblock.number() != number) {
                return new Copy(null, damage(page, "store " + storeId, "store " + superblock.storeId()));
            }
            checkOptions(superblock);
            return new Copy(superblock, null);
        } catch (MalformedImageException e) {
            return new Copy(null, damage(page, "a superblock", e.getMessage()));
        } catch (CorruptionException | ReadFailedException e) {
            // What cannot be read is as good as damaged: that is what the other copy is for.
            return new Copy(null, e);
        }
    }

    private void checkFormat(int format) {
        if (format > FormatVersion.CURRENT.number()) {
            throw new FormatTooNewException(device.name(), format, FormatVersion.CURRENT.number());
        }
        if (format < FormatVersion.V1.number()) {
            throw new FormatTooOldException(device.name(), format, FormatVersion.V1.number());
        }
    }

    /**
     * Refuses a superblock that is whole, and has options which are none here. That is no damage, which a salvage would cure by leaving out what it
     * does not know: a later version may have more options, and more values of them. The other copy is not asked, as with a format that is too new: it
     * may be older than what that version has done since.
     */
    private void checkOptions(Superblock superblock) {
        try {
            StoreOptions.parse(superblock.options());
        } catch (IllegalArgumentException e) {
            throw new FormatTooNewException(device.name(), superblock.format(), String.valueOf(e.getMessage()));
        }
    }

    private CorruptionException damage(int page, String expected, String actual) {
        return new CorruptionException(device.name(), page, PageType.SUPERBLOCK.name(), expected, actual);
    }
}
