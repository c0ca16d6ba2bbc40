package dev.heartwood.engine.log;

import dev.heartwood.CorruptionException;
import dev.heartwood.FormatTooNewException;
import dev.heartwood.FormatTooOldException;
import dev.heartwood.engine.base.KeyHash;
import dev.heartwood.engine.os.Crc32c;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;

/**
 * What a segment says of itself in its header pages.
 *
 * @param format of its records
 * @param fileNumber the number in the file's name
 * @param segmentBytes the file's length
 * @param salt tells this use of the file from earlier ones
 * @param generation the generation its records belong to
 * @param lane the lane that wrote it
 * @param index its place among the segments of that lane and generation, from 0
 * @param previousEnd where the records of the segment before it, in that order, end; 0 for the first
 * @param durableLsn every LSN up to this was durable when the header was written
 */
record SegmentHeader(
        RecordFormat format,
        long fileNumber,
        long segmentBytes,
        long salt,
        LogGeneration generation,
        int lane,
        long index,
        long previousEnd,
        long durableLsn) {
    /*
     * Death of the process keeps a prefix of the stores, so the header is published by its first 8 bytes, which hold checksum
     * and type: they are zero from before the first store of a new header until after its last. A page whose first 8 bytes
     * are zero is "unheaded": the segment holds nothing. Any other page whose checksum fails is damage, unless power was lost. So of an old
     * header's copies a damaged one is zeroed first: beside one that is intact, or zero, no other is ever damaged.
     */

    /**
     * The salt for a use of a file: differs, as good as surely, from that of every other use of any file. Life and generation
     * tell uses apart except when a loss of power took every trace of one; the boot id tells those apart.
     */
    static long salt(long storeId, LogGeneration generation, long fileNumber, int lane, long index) {
        byte[] bootId = generation.life().bootId().getBytes(StandardCharsets.UTF_8);
        long state = KeyHash.begin(bootId.length);
        for (byte b : bootId) {
            state = KeyHash.mix(state, b);
        }
        state = KeyHash.mix(state, storeId);
        state = KeyHash.mix(state, generation.life().number());
        state = KeyHash.mix(state, generation.number());
        state = KeyHash.mix(state, fileNumber);
        state = KeyHash.mix(state, index << 16 ^ lane);
        return KeyHash.end(state);
    }

    /** What the checksums of this segment's records are changed by. */
    int seed() {
        return (int) (salt ^ salt >>> 32);
    }

    /** Writes both copies into a mapped segment and zeroes the place of the first record. */
    void publish(long segment, long storeId) {
        int first = emptiedFirst(segment);
        for (int i = 0; i < LogLayout.HEADER_COPIES; i++) {
            Memory.putLongVolatile(segment + (long) (first ^ i) * PageLayout.PAGE_BYTES, 0);
        }
        long scratch = segment + LogLayout.HEADER_BYTES;
        for (int copy = 0; copy < LogLayout.HEADER_COPIES; copy++) {
            long page = segment + (long) copy * PageLayout.PAGE_BYTES;
            Memory.fill(scratch, PageLayout.PAGE_BYTES, 0);
            writeBody(scratch);
            PageSeal.seal(scratch, PageType.LOG, storeId, copy, generation.number());
            Memory.copy(scratch + 8, page + 8, PageLayout.PAGE_BYTES - 8);
            Memory.putLongVolatile(page, Memory.getLong(scratch));
        }
        Memory.fill(scratch, PageLayout.PAGE_BYTES, 0);
    }

    /** Which of a mapped segment's two copies goes first. */
    static int emptiedFirst(long segment) {
        return isIntact(segment) ? 1 : 0;
    }

    private void writeBody(long page) {
        assert format == RecordFormat.SHORT : "of older formats nothing is written";
        LogLife life = generation.life();
        byte[] bootId = life.bootId().getBytes(StandardCharsets.UTF_8);
        Memory.putInt(page + LogLayout.HEADER_FORMAT, LogLayout.FORMAT);
        Memory.putInt(page + LogLayout.HEADER_LANE, lane);
        Memory.putInt(page + LogLayout.HEADER_LANE_COUNT, life.laneCount());
        Memory.putInt(page + LogLayout.HEADER_BOOT_ID_BYTES, bootId.length);
        Memory.putLong(page + LogLayout.HEADER_INDEX, index);
        Memory.putLong(page + LogLayout.HEADER_FILE_NUMBER, fileNumber);
        Memory.putLong(page + LogLayout.HEADER_SEGMENT_BYTES, segmentBytes);
        Memory.putLong(page + LogLayout.HEADER_SALT, salt);
        Memory.putLong(page + LogLayout.HEADER_LIFE, life.number());
        Memory.putLong(page + LogLayout.HEADER_GENERATION_FIRST_LSN, generation.firstLsn());
        Memory.putLong(page + LogLayout.HEADER_LIFE_FIRST_LSN, life.firstLsn());
        Memory.putLong(page + LogLayout.HEADER_LOST, life.lost());
        Memory.putLong(page + LogLayout.HEADER_PREVIOUS_GENERATION, generation.previousNumber());
        Memory.putLong(page + LogLayout.HEADER_PREVIOUS_END, previousEnd);
        Memory.putLong(page + LogLayout.HEADER_DURABLE, durableLsn);
        Memory.putLong(page + LogLayout.HEADER_FIRST_SEQUENCE, generation.firstSequence());
        Memory.copyFrom(bootId, 0, page + LogLayout.HEADER_BOOT_ID, bootId.length);
    }

    /** Whether the page was never given a header, or the process died before the header was complete. */
    static boolean isUnheaded(long page) {
        return Memory.getLong(page) == 0;
    }

    /** Whether the page's checksum holds. */
    static boolean isIntact(long page) {
        int sealed = Memory.getInt(page + PageLayout.CHECKSUM);
        return sealed == Crc32c.of(page + PageLayout.TYPE, PageLayout.PAGE_BYTES - PageLayout.TYPE);
    }

    /**
     * Reads an intact header page.
     *
     * @param path of the segment
     * @throws CorruptionException when it is of another store or place, or makes no sense
     * @throws FormatTooNewException when a newer version wrote it
     */
    static SegmentHeader read(long page, int copy, long storeId, Path path) {
        String file = path.toString();
        long number = Memory.getLong(page + PageLayout.GENERATION);
        PageSeal.verify(page, PageType.LOG, storeId, copy, number, file);
        int format = Memory.getInt(page + LogLayout.HEADER_FORMAT);
        if (format > LogLayout.FORMAT) {
            throw new FormatTooNewException(path.getParent().toString(), format, LogLayout.FORMAT);
        }
        if (format < LogLayout.FORMAT_OLDEST) {
            throw new FormatTooOldException(path.getParent().toString(), format, LogLayout.FORMAT_OLDEST);
        }
        int bootIdBytes = Memory.getInt(page + LogLayout.HEADER_BOOT_ID_BYTES);
        if (bootIdBytes < 0 || bootIdBytes > LogLayout.BOOT_ID_BYTES_MAX) {
            throw new CorruptionException(file, copy, "LOG", "a boot id of at most 64 bytes", "one of " + bootIdBytes);
        }
        boolean isWide = RecordFormat.of(format) == RecordFormat.WIDE;
        int bootId = isWide ? LogLayout.HEADER_FIRST_SEQUENCE : LogLayout.HEADER_BOOT_ID;
        LogLife life = new LogLife(
                Memory.getLong(page + LogLayout.HEADER_LIFE),
                Memory.getLong(page + LogLayout.HEADER_LIFE_FIRST_LSN),
                Memory.getLong(page + LogLayout.HEADER_LOST),
                Memory.getInt(page + LogLayout.HEADER_LANE_COUNT),
                new String(Memory.bytes(page + bootId, bootIdBytes), StandardCharsets.UTF_8));
        LogGeneration generation = new LogGeneration(
                number,
                Memory.getLong(page + LogLayout.HEADER_GENERATION_FIRST_LSN),
                isWide ? 0 : Memory.getLong(page + LogLayout.HEADER_FIRST_SEQUENCE),
                Memory.getLong(page + LogLayout.HEADER_PREVIOUS_GENERATION),
                life);
        SegmentHeader header = new SegmentHeader(
                RecordFormat.of(format),
                Memory.getLong(page + LogLayout.HEADER_FILE_NUMBER),
                Memory.getLong(page + LogLayout.HEADER_SEGMENT_BYTES),
                Memory.getLong(page + LogLayout.HEADER_SALT),
                generation,
                Memory.getInt(page + LogLayout.HEADER_LANE),
                Memory.getLong(page + LogLayout.HEADER_INDEX),
                Memory.getLong(page + LogLayout.HEADER_PREVIOUS_END),
                Memory.getLong(page + LogLayout.HEADER_DURABLE));
        header.check(path, copy);
        return header;
    }

    private void check(Path path, int copy) {
        String file = path.toString();
        LogLife life = generation.life();
        boolean sane = life.number() > 0
                && life.firstLsn() > 0
                && life.lost() >= 0
                && life.laneCount() > 0
                && life.laneCount() <= LogLayout.LANES_MAX
                && lane >= 0
                && lane < life.laneCount()
                && index >= 0
                && generation.firstLsn() >= life.firstLsn()
                && generation.firstSequence() >= 0
                && generation.previousNumber() < generation.number()
                && (index == 0 ? previousEnd == 0 : previousEnd >= LogLayout.HEADER_BYTES)
                && previousEnd % format.alignment == 0
                && durableLsn >= 0;
        if (!sane) {
            throw new CorruptionException(file, copy, "LOG", "a header that makes sense", toString());
        }
        if (fileNumber != SegmentName.number(path.getFileName().toString())) {
            throw new CorruptionException(
                    file, copy, "LOG", "the file " + SegmentName.of(fileNumber), "it under this name");
        }
    }
}
