package dev.heartwood.engine.log;

import dev.heartwood.engine.page.PageLayout;

/**
 * Where things are in a segment of the log.
 *
 * <pre>
 *  0              4096           8192                                              segmentBytes
 *  +--------------+--------------+----------+----------+-----+----------+----------------+
 *  | header page  | header page  | record   | record   | ... | record   | not a record   |
 *  | number 0     | number 1     | 4-aligned|          |     |          |                |
 *  +--------------+--------------+----------+----------+-----+----------+----------------+
 *
 *  header page, after the 32 bytes that every page begins with
 *  32       36     40           44             48      56            64              72     80
 *  +--------+------+------------+--------------+-------+-------------+---------------+------+------
 *  | format | lane | lane count | boot id size | index | file number | segment bytes | salt | life
 *  +--------+------+------------+--------------+-------+-------------+---------------+------+------
 *  88                     96               104    112                   120            128       136              144
 *  +----------------------+----------------+------+---------------------+--------------+---------+----------------+--------+
 *  | generation first LSN | life first LSN | lost | previous generation | previous end | durable | first sequence | boot id|
 *  +----------------------+----------------+------+---------------------+--------------+---------+----------------+--------+
 *
 *  record
 *  0       4     8          12     13           14
 *  +-------+-----+----------+------+------------+-----------------+----------------+------------+-----+-------+
 *  | check | LSN | sequence | kind | key length | behind the key  | payload length | unsynced   | key | value |      put, delete, merge
 *  +-------+-----+----------+------+------------+-----------------+----------------+------------+-----+-------+
 *  | check | LSN | sequence | kind | 0          | behind the key  | payload length | unsynced   | count | batch payload |   batch
 *  +-------+-----+----------+------+------------+-----------------+----------------+------------+-------+---------------+
 *                                    1 byte       2 bytes           if not there     if it is said
 * </pre>
 *
 * LSN and sequence are the low halves of numbers that are not below those in the header, by less than {@link #DRAWN_MAX}: so a record of an
 * earlier use of the file, which has lower ones by less than that, does not look like one of this.
 *
 * <p>The byte of the kind also says whether its lengths are too large for these three bytes; then the length of the key takes all three, and
 * that of the payload follows. And whether the record says what was durable when it was written. That is the record's LSN less the LSN up to
 * which everything was: the first record that begins on a page says it, and each one where it has changed, so that what a loss of power
 * leaves of records behind a sync tells of it.
 *
 * <p>Segments of formats 1 and 2 are read and no longer written: see {@link RecordFormat}. Those of format 1 have no first sequence in the header and
 * the boot id in its place.
 */
final class LogLayout {
    /** The version of all this, raised with every change that an older reader would misread. */
    static final int FORMAT = 3;
    /** The oldest that is read. */
    static final int FORMAT_OLDEST = 1;

    /** Guards against a segment of another format. */
    static final int HEADER_FORMAT = PageLayout.BODY;
    static final int HEADER_LANE = HEADER_FORMAT + 4;
    static final int HEADER_LANE_COUNT = HEADER_LANE + 4;
    static final int HEADER_BOOT_ID_BYTES = HEADER_LANE_COUNT + 4;
    /** The segment's place among those of its lane and generation, from 0: guards against a missing segment. */
    static final int HEADER_INDEX = HEADER_BOOT_ID_BYTES + 4;
    /** The number in the file's name: guards against a file put in the place of another. */
    static final int HEADER_FILE_NUMBER = HEADER_INDEX + 8;
    /** Guards against a file cut or extended. */
    static final int HEADER_SEGMENT_BYTES = HEADER_FILE_NUMBER + 8;
    /** Guards against records of an earlier use of the file. */
    static final int HEADER_SALT = HEADER_SEGMENT_BYTES + 8;
    static final int HEADER_LIFE = HEADER_SALT + 8;
    static final int HEADER_GENERATION_FIRST_LSN = HEADER_LIFE + 8;
    static final int HEADER_LIFE_FIRST_LSN = HEADER_GENERATION_FIRST_LSN + 8;
    /** How many LSNs the recovery at the start of this life found missing and accepted. */
    static final int HEADER_LOST = HEADER_LIFE_FIRST_LSN + 8;
    /** The last generation before this one that holds records; guards against a missing generation. */
    static final int HEADER_PREVIOUS_GENERATION = HEADER_LOST + 8;
    /** Where the records of the lane's previous segment end; guards against records lost at its end. */
    static final int HEADER_PREVIOUS_END = HEADER_PREVIOUS_GENERATION + 8;
    /** Every LSN up to this one was durable when the header was written. */
    static final int HEADER_DURABLE = HEADER_PREVIOUS_END + 8;
    /** No sequence of the generation is below this one. */
    static final int HEADER_FIRST_SEQUENCE = HEADER_DURABLE + 8;
    static final int HEADER_BOOT_ID = HEADER_FIRST_SEQUENCE + 8;
    static final int BOOT_ID_BYTES_MAX = 64;

    /** The header is stored twice, as pages 0 and 1 of the file. */
    static final int HEADER_COPIES = 2;
    /** Where records begin. */
    static final int HEADER_BYTES = HEADER_COPIES * PageLayout.PAGE_BYTES;

    /** CRC-32C of everything behind it, exclusive-or the segment's seed: guards against torn records, rot and stale records. */
    static final int RECORD_CHECKSUM = 0;
    static final int RECORD_CHECKED = RECORD_CHECKSUM + 4;
    static final int RECORD_LSN = RECORD_CHECKED;
    static final int RECORD_SEQUENCE = RECORD_LSN + 4;
    /** The kind in the low byte, the key's length in the next, that of what follows the key in the other two. */
    static final int RECORD_KIND = RECORD_SEQUENCE + 4;
    /** The bytes of a record without payload, at least and at most. */
    static final int RECORD_HEADER_MIN = RECORD_KIND + 4;
    static final int RECORD_HEADER_MAX = RECORD_HEADER_MIN + 8;
    static final int RECORD_ALIGNMENT = 4;

    /** In the byte of the kind: always, which text does not have. */
    static final int KIND_IS_RECORD = 0x80;
    /** In the byte of the kind: the length of the key takes three bytes, and the payload's follows. */
    static final int KIND_IS_LONG = 0x40;
    /** In the byte of the kind: what is unsynced follows. */
    static final int KIND_SAYS_DURABLE = 0x20;
    /** In the byte of the kind: the kind. */
    static final int KIND_MASK = 0x1f;
    /** What one byte has room for. */
    static final int SHORT_KEY_BYTES_MAX = 0xff;
    /** What two bytes have room for. */
    static final int SHORT_REST_BYTES_MAX = 0xffff;

    /**
     * More LSNs, and more sequences, than are drawn in a generation: each entry takes 24 bytes and more of the memory for memtables, and each
     * lane one mark.
     */
    static final long DRAWN_MAX = 1L << 31;

    /** A batch: the count of its entries and then {@link BatchPayload}. */
    static final int KIND_BATCH = 16;
    /** No entry; says only what is durable. */
    static final int KIND_MARK = 17;
    static final int BATCH_COUNT_BYTES = 4;
    /** What is unsynced, where a record does not say it. */
    static final long UNSYNCED_UNKNOWN = -1;
    /** The most that a record can say to be unsynced. */
    static final long UNSYNCED_MAX = 0xffff_ffffL;

    /** The longest payload of one record. */
    static final long PAYLOAD_BYTES_MAX = Integer.MAX_VALUE - 4096;
    static final int KEY_BYTES_MAX = 1 << 16;
    static final int LANES_MAX = 1 << 12;

    static {
        if (HEADER_BOOT_ID != 144
                || HEADER_BOOT_ID + BOOT_ID_BYTES_MAX > PageLayout.PAGE_BYTES
                || RECORD_HEADER_MIN != 16
                || KIND_BATCH > KIND_MASK
                || KIND_MARK > KIND_MASK
                || HEADER_BYTES % RECORD_ALIGNMENT != 0) {
            throw new AssertionError("log layout");
        }
    }

    private LogLayout() {}

    /** The bytes of a record in its segment at most, with the padding after it. */
    static long recordBytesMax(long payloadBytes) {
        return align(RECORD_HEADER_MAX + payloadBytes, RECORD_ALIGNMENT);
    }

    /** The smallest length of a segment that holds a record of this size and a mark. */
    static long segmentBytes(long recordBytes) {
        return align(HEADER_BYTES + recordBytes + RECORD_HEADER_MAX, PageLayout.PAGE_BYTES);
    }

    static long align(long bytes, int alignment) {
        return bytes + alignment - 1 & -alignment;
    }
}
