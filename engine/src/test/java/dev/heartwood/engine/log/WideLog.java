package dev.heartwood.engine.log;

import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageSeal;
import dev.heartwood.engine.page.PageType;
import java.util.HashMap;
import java.util.Map;

/** Logs of format 1, of which nothing is written any more: made from logs whose records are all whole. */
final class WideLog {
    private static final int PAYLOAD = 32;
    private static final int ALIGNMENT = 8;

    private final CrashStorage from;
    private final CrashStorage to;
    private final long storeId;
    /** Where the records of the segments end, by generation, lane and index. */
    private final Map<String, Long> ends = new HashMap<>();

    private WideLog(CrashStorage from, long storeId) {
        this.from = from;
        this.to = new CrashStorage(from.bootId());
        this.storeId = storeId;
    }

    /** The same log, in format 1. */
    static CrashStorage of(CrashStorage narrow, long storeId) {
        WideLog log = new WideLog(narrow, storeId);
        for (String name : narrow.list()) {
            CrashStorage.File file = narrow.files.get(name);
            if (SegmentName.number(name) < 0 || SegmentHeader.isUnheaded(file.address)) {
                log.copy(name);
            } else {
                log.copyRecords(name, log.header(name));
            }
        }
        for (String name : log.to.list()) {
            if (SegmentName.number(name) >= 0 && !SegmentHeader.isUnheaded(narrow.files.get(name).address)) {
                log.finish(name, log.header(name));
            }
        }
        return log.to;
    }

    private SegmentHeader header(String name) {
        return SegmentHeader.read(from.files.get(name).address, 0, storeId, "simulated", name);
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
            more += PAYLOAD - LogLayout.RECORD_PAYLOAD + ALIGNMENT;
        }
        long length = LogLayout.align(Math.max(file.durable.length, end + more + PAYLOAD), PageLayout.PAGE_BYTES);
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

    private static long copyRecord(LogRecord record, long from, long to, int seed) {
        int payload = LogRecord.length(from) - LogLayout.RECORD_PAYLOAD;
        int length = PAYLOAD + payload;
        Memory.putInt(to + 4, length);
        Memory.putLong(to + 8, record.lsn(from));
        Memory.putLong(to + 16, record.isMark(from) ? 0 : record.sequence(from));
        Memory.copy(from + LogLayout.RECORD_KIND, to + 24, 8);
        Memory.copy(from + LogLayout.RECORD_PAYLOAD, to + PAYLOAD, payload);
        Memory.putInt(to, LogRecord.checksum(to, length, seed));
        return LogLayout.align(length, ALIGNMENT);
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
            Memory.putInt(page + LogLayout.HEADER_FORMAT, 1);
            Memory.putLong(page + LogLayout.HEADER_SEGMENT_BYTES, file.durable.length);
            Memory.putLong(page + LogLayout.HEADER_PREVIOUS_END, header.index() == 0 ? 0 : ends.get(key(header, header.index() - 1)));
            Memory.fill(page + 136, LogLayout.BOOT_ID_BYTES_MAX + 8, 0);
            Memory.copyFrom(bootId, 0, page + 136, bootId.length);
            PageSeal.seal(page, PageType.LOG, storeId, copy, header.generation().number());
        }
        try (MappedFile mapped = to.openMappedExisting(name)) {
            mapped.sync(0, file.durable.length);
        }
    }
}
