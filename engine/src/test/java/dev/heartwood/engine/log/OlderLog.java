package dev.heartwood.engine.log;

import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;

/** Logs of formats 1 and 2, of which nothing is written any more: made from logs whose records are all whole. */
final class OlderLog {
    private final RecordFormat format;

    private final CrashStorage from;
    private final CrashStorage to;
    private final long storeId;
    /** Where the records of the segments end, by generation, lane and index. */
    private final Map<String, Long> ends = new HashMap<>();

    private OlderLog(RecordFormat format, CrashStorage from, long storeId) {
        this.format = format;
        this.from = from;
        this.to = new CrashStorage(from.bootId());
        this.storeId = storeId;
    }

    /** The same log, in an older format. */
    static CrashStorage of(RecordFormat format, CrashStorage newest, long storeId) {
        OlderLog log = new OlderLog(format, newest, storeId);
        for (String name : newest.list()) {
            CrashStorage.File file = newest.files.get(name);
            if (SegmentName.number(name) < 0 || SegmentHeader.isUnheaded(file.address)) {
                log.copy(name);
            } else {
                log.copyRecords(name, log.header(name));
            }
        }
        for (String name : log.to.list()) {
            if (SegmentName.number(name) >= 0 && !SegmentHeader.isUnheaded(newest.files.get(name).address)) {
                log.finish(name, log.header(name));
            }
        }
        return log.to;
    }

    private SegmentHeader header(String name) {
        return SegmentHeader.read(from.files.get(name).address, 0, storeId, Path.of("simulated", name));
    }

    private void copy(String name) {
        byte[] contents = from.files.get(name).bytes();
        try (MappedFile copy = to.openMapped(name, contents.length, contents.length)) {
            Memory.copyFrom(contents, 0, copy.address(), contents.length);
            copy.sync(0, contents.length);
        }
    }

    private void copyRecords(String name, SegmentHeader header) {
        CrashStorage.File file = from.files.get(name);
        LogRecord record = LogRecord.of(header);
        long more = 0;
        long end = LogLayout.HEADER_BYTES;
        while (isRecord(record, file, end)) {
            end += record.step(file.address + end);
            more += format.headerMin - LogLayout.RECORD_HEADER_MIN + format.alignment;
        }
        long length = LogLayout.align(Math.max(file.durable.length, end + more + format.headerMin), PageLayout.PAGE_BYTES);
        try (MappedFile copy = to.openMapped(name, length, length)) {
            long at = LogLayout.HEADER_BYTES;
            Memory.copy(file.address, copy.address(), at);
            for (long next = at; next < end; next += record.step(file.address + next)) {
                at += copyRecord(record, file.address + next, copy.address() + at, header.seed());
            }
            ends.put(key(header, header.index()), at);
        }
    }

    private static boolean isRecord(LogRecord record, CrashStorage.File file, long at) {
        return record.isPlausible(file.address + at, file.durable.length - at) && record.isIntact(file.address + at);
    }

    private long copyRecord(LogRecord record, long from, long to, int seed) {
        int payload = record.length(from) - record.headerBytes(from);
        int length = format.headerMin + payload;
        long sequence = record.isMark(from) ? 0 : record.sequence(from);
        Memory.putInt(to + 4, length);
        if (format == RecordFormat.WIDE) {
            Memory.putLong(to + 8, record.lsn(from));
            Memory.putLong(to + 16, sequence);
        } else {
            Memory.putInt(to + 8, (int) record.lsn(from));
            Memory.putInt(to + 12, (int) sequence);
        }
        long durable = record.durableLsn(from);
        Memory.putInt(to + format.headerMin - 8, record.kind(from) | record.keyLength(from) << 8);
        Memory.putInt(to + format.headerMin - 4, durable == 0 ? -1 : (int) (record.lsn(from) - durable));
        Memory.copy(record.key(from), to + format.headerMin, payload);
        Memory.putInt(to, LogRecord.checksum(to, length, seed));
        return LogLayout.align(length, format.alignment);
    }

    private static String key(SegmentHeader header, long index) {
        return header.generation().number() + " " + header.lane() + " " + index;
    }

    /** Makes the header, which says where the segment before ends. */
    private void finish(String name, SegmentHeader header) {
        CrashStorage.File file = to.files.get(name);
        byte[] bootId = header.generation().life().bootId().getBytes();
        for (int copy = 0; copy < LogLayout.HEADER_COPIES; copy++) {
            long page = file.address + (long) copy * PageLayout.PAGE_BYTES;
            Memory.putInt(page + LogLayout.HEADER_FORMAT, 1 + format.ordinal());
            Memory.putLong(page + LogLayout.HEADER_SEGMENT_BYTES, file.durable.length);
            Memory.putLong(page + LogLayout.HEADER_PREVIOUS_END, header.index() == 0 ? 0 : ends.get(key(header, header.index() - 1)));
            if (format == RecordFormat.WIDE) {
                Memory.fill(page + 136, LogLayout.BOOT_ID_BYTES_MAX + 8, 0);
                Memory.copyFrom(bootId, 0, page + 136, bootId.length);
            }
            PageSeal.seal(page, PageType.LOG, storeId, copy, header.generation().number());
        }
        try (MappedFile mapped = to.openMappedExisting(name)) {
            mapped.sync(0, file.durable.length);
        }
    }
}
