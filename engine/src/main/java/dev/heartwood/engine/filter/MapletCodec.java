package dev.heartwood.engine.filter;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.extent.ExtentReleaser;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The descriptor of a maplet as bytes. */
final class MapletCodec {
    /*
     * Little-endian, whatever the buffer's order:
     *
     *     id (8) | pages (4) | values (1) | fingerprint bits (1) | remainder bits (1) | value bits (1) |
     *     duplicate entries (8) | entries of each value (4 each) | extents (4 each)
     *
     * The number of extents follows from the pages. Nothing is allocated before the bytes for it are known to be there.
     */
    private static final int HEAD_BYTES = 8 + 4 + 4 + 8;

    private MapletCodec() {}

    static int bytes(Maplet maplet) {
        return HEAD_BYTES + Integer.BYTES * (maplet.valueCount() + maplet.extentCount());
    }

    static void encode(Maplet maplet, ByteBuffer image) {
        ByteOrder order = image.order();
        image.order(ByteOrder.LITTLE_ENDIAN);
        MapletShape shape = maplet.shape();
        image.putLong(maplet.id());
        image.putInt(maplet.pages());
        image.put((byte) maplet.valueCount());
        image.put((byte) maplet.fingerprintBits());
        image.put((byte) (shape == null ? 0 : shape.remainderBits));
        image.put((byte) (shape == null ? 0 : shape.valueBits));
        image.putLong(maplet.duplicateEntries());
        for (int value = 0; value < maplet.valueCount(); value++) {
            image.putInt((int) maplet.entries(value));
        }
        for (int i = 0; i < maplet.extentCount(); i++) {
            image.putInt(maplet.extent(i));
        }
        image.order(order);
    }

    static Maplet decode(ByteBuffer image, String file, long page, ExtentReleaser releaser) {
        ByteOrder order = image.order();
        image.order(ByteOrder.LITTLE_ENDIAN);
        try {
            return read(image, file, page, releaser);
        } catch (BufferUnderflowException e) {
            throw damaged(file, page, "a whole maplet descriptor", "the end of the node");
        } finally {
            image.order(order);
        }
    }

    private static Maplet read(ByteBuffer image, String file, long page, ExtentReleaser releaser) {
        long id = image.getLong();
        int pages = image.getInt();
        int values = image.get();
        int fingerprintBits = image.get();
        int remainderBits = image.get();
        int valueBits = image.get();
        long duplicates = image.getLong();
        MapletShape shape = null;
        if (pages != 0) {
            String problem = MapletShape.problem(fingerprintBits, remainderBits, valueBits, pages);
            if (problem != null) {
                throw damaged(file, page, "a maplet of 1 page or more with a matching shape", problem);
            }
            shape = new MapletShape(fingerprintBits, remainderBits, valueBits, pages);
        }
        int valuesMax = pages == 0 ? 0 : 1 << valueBits;
        if (values < 0 || values > valuesMax) {
            throw damaged(file, page, "a maplet of at most " + valuesMax + " values", values + " values");
        }
        int[] valueEntries = readInts(image, values);
        int extents = (int) (((long) pages + PageLayout.EXTENT_PAGES - 1) >>> PageLayout.EXTENT_SHIFT);
        Maplet maplet = new Maplet(id, readInts(image, extents), shape, valueEntries, duplicates, releaser);
        long room = pages == 0 ? 0 : Math.min((long) pages * shape.slots, MapletBuilder.ENTRIES_MAX);
        if (maplet.entries() > room || duplicates < 0 || duplicates > maplet.entries()) {
            throw damaged(file, page, "at most " + room + " entries", maplet.entries() + ", duplicate " + duplicates);
        }
        return maplet;
    }

    private static int[] readInts(ByteBuffer image, int count) {
        if (image.remaining() >>> 2 < count) {
            throw new BufferUnderflowException();
        }
        int[] numbers = new int[count];
        for (int i = 0; i < count; i++) {
            numbers[i] = image.getInt();
            if (numbers[i] < 0) {
                throw new BufferUnderflowException();
            }
        }
        return numbers;
    }

    private static CorruptionException damaged(String file, long page, String expected, String found) {
        return new CorruptionException(file, page, PageType.TRUNK.name(), expected, found);
    }
}
