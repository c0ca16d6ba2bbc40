package dev.heartwood.engine.checkpoint;

import dev.heartwood.engine.base.ImageWriter;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.Arrays;

/**
 * The making of a store. From before there is a data file until its superblocks are durable a file {@link StoreFiles#CREATING} lies beside it, with the id
 * of the store (8 bytes). What is found with that is made anew if the creation may have left it; what somebody has put there since, a store or a device
 * of something else, is not. Stateless.
 */
public final class Creation {
    private static final int ID_BYTES = 8;

    private Creation() {}

    /** Says that a store is being made; returns its id, which is that of a creation that was broken off, or else {@code storeId}. */
    public static long begin(Storage files, long storeId) {
        long brokenOff = idOf(files);
        long id = brokenOff == 0 ? storeId : brokenOff;
        files.writeFile(StoreFiles.CREATING, new ImageWriter().putLong(id).toBytes());
        return id;
    }

    /** Its superblocks are durable. */
    public static void end(Storage files) {
        files.delete(StoreFiles.CREATING);
        files.syncDirectory();
    }

    /** Nothing was made, if no data file was. */
    public static void takeBack(Storage files) {
        if (!files.exists(StoreFiles.DATA)) {
            end(files);
        }
    }

    /** What a directory has that a creation that was broken off has not left there; null for nothing. By who has its lock. */
    public static String other(Storage files) {
        for (String name : files.list()) {
            if (!name.equals(StoreFiles.CREATING) && !name.equals(StoreFiles.DATA) && !name.equals(StoreFiles.COPYING)) {
                return "other files such as " + name;
            }
        }
        return !files.exists(StoreFiles.DATA) || mayHaveMade(files) ? null : "a " + StoreFiles.DATA + " that it has not made";
    }

    /** A creation makes a file of an extent, and writes both superblocks; the system may have written neither of them, or parts, or garbage. */
    private static boolean mayHaveMade(Storage files) {
        long id = idOf(files);
        byte[] found = Arrays.copyOf(files.readFile(StoreFiles.DATA, PageLayout.EXTENT_BYTES), PageLayout.EXTENT_BYTES);
        return files.isRawDevice(StoreFiles.DATA)
                ? isZeroBeside(found, id)
                : files.size(StoreFiles.DATA) <= PageLayout.EXTENT_BYTES && !hasOther(found, id);
    }

    /** Whether a device, which was all zeros, has nothing but superblocks of the store, whole or not. */
    private static boolean isZeroBeside(byte[] found, long id) {
        byte[] rest = found.clone();
        for (int page : Superblocks.pages()) {
            int begin = page << PageLayout.PAGE_SHIFT;
            if (id != 0 && Superblocks.number(found, begin + PageLayout.STORE_ID) == id) {
                Arrays.fill(rest, begin, begin + PageLayout.PAGE_BYTES, (byte) 0);
            }
        }
        return Arrays.equals(rest, new byte[rest.length]);
    }

    /** Whether there is a whole superblock of another store; where nobody says which this one is, of a store that was made to the end. */
    private static boolean hasOther(byte[] found, long id) {
        for (int page : Superblocks.pages()) {
            int begin = page << PageLayout.PAGE_SHIFT;
            boolean isOther = id == 0
                    ? Superblocks.number(found, begin + PageLayout.GENERATION) > 1
                    : Superblocks.number(found, begin + PageLayout.STORE_ID) != id;
            if (isOther && found[begin + PageLayout.TYPE] == PageType.SUPERBLOCK.code() && PageSeal.isWhole(found, begin)) {
                return true;
            }
        }
        return false;
    }

    /** The id of the store that was being made; 0 when none was, or nobody says which. */
    private static long idOf(Storage files) {
        if (!files.exists(StoreFiles.CREATING)) {
            return 0;
        }
        byte[] id = files.readFile(StoreFiles.CREATING, ID_BYTES);
        return id.length < ID_BYTES ? 0 : Superblocks.number(id, 0);
    }
}
