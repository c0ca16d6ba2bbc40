package dev.heartwood.engine.page;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.os.Crc32c;
import dev.heartwood.engine.os.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Puts the header on a finished page, and refuses a page whose header is not the one expected. Thread-safe. */
public final class PageSeal {
    /*
     * The checksum comes first in verify(): when it fails, nothing else in the page can be believed. What comes after it is
     * then a well-formed page in the wrong place or of the wrong time, and the field that differs says which fault it was.
     */
    private static final int VERSION = 1;
    private static final int CHECKED = PageLayout.CHECKSUM + 4;

    private PageSeal() {}

    /** Writes the header of the page at {@code page}, whose body is complete, with the checksum of the whole. */
    public static void seal(long page, PageType type, long storeId, long pageNumber, long generation) {
        Memory.putByte(page + PageLayout.TYPE, type.code());
        Memory.putByte(page + PageLayout.VERSION, VERSION);
        Memory.putShort(page + PageLayout.RESERVED, 0);
        Memory.putLong(page + PageLayout.STORE_ID, storeId);
        Memory.putLong(page + PageLayout.ADDRESS, pageNumber);
        Memory.putLong(page + PageLayout.GENERATION, generation);
        Memory.putInt(page + PageLayout.CHECKSUM, checksum(page));
    }

    /**
     * Returns when the page at {@code page} is the one expected.
     *
     * @param file what the error calls the file
     * @throws CorruptionException naming the first field that differs, what was expected of it and what was found
     */
    public static void verify(
            long page, PageType type, long storeId, long pageNumber, long generation, String file) {
        int sealed = Memory.getInt(page + PageLayout.CHECKSUM);
        int found = checksum(page);
        if (sealed != found) {
            throw damaged(file, pageNumber, type, "checksum " + hex(sealed), "contents with checksum " + hex(found));
        }
        int code = Memory.getUnsignedByte(page + PageLayout.TYPE);
        if (code != type.code()) {
            throw damaged(file, pageNumber, type, "type " + type, "type " + typeName(code));
        }
        int version = Memory.getUnsignedByte(page + PageLayout.VERSION);
        if (version != VERSION) {
            throw damaged(file, pageNumber, type, "page version " + VERSION, "page version " + version);
        }
        expect(page, PageLayout.STORE_ID, storeId, "store id", file, pageNumber, type);
        expect(page, PageLayout.ADDRESS, pageNumber, "address", file, pageNumber, type);
        expect(page, PageLayout.GENERATION, generation, "generation", file, pageNumber, type);
    }

    /** Whether the header, checksum aside, says what is expected: for pages whose contents were verified before. */
    public static boolean isSealedAs(long page, PageType type, long storeId, long pageNumber, long generation) {
        return Memory.getUnsignedByte(page + PageLayout.TYPE) == type.code()
                && Memory.getLong(page + PageLayout.STORE_ID) == storeId
                && Memory.getLong(page + PageLayout.ADDRESS) == pageNumber
                && Memory.getLong(page + PageLayout.GENERATION) == generation;
    }

    /** Whether a page among bytes on the Java heap is as it was sealed, as whatever type and wherever. */
    public static boolean isWhole(byte[] bytes, int page) {
        CRC32C sum = new CRC32C();
        sum.update(bytes, page + CHECKED, PageLayout.PAGE_BYTES - CHECKED);
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(page + PageLayout.CHECKSUM) == (int) sum.getValue();
    }

    private static int checksum(long page) {
        return Crc32c.of(page + CHECKED, PageLayout.PAGE_BYTES - CHECKED);
    }

    private static void expect(
            long page, int field, long expected, String name, String file, long pageNumber, PageType type) {
        long found = Memory.getLong(page + field);
        if (found != expected) {
            throw damaged(file, pageNumber, type, name + " " + expected, name + " " + found);
        }
    }

    private static CorruptionException damaged(String file, long page, PageType type, String expected, String found) {
        return new CorruptionException(file, page, type.name(), expected, found);
    }

    private static String typeName(int code) {
        PageType type = PageType.ofCode(code);
        return type == null ? "code " + code : type.name();
    }

    private static String hex(int checksum) {
        return "0x" + Integer.toHexString(checksum);
    }
}
