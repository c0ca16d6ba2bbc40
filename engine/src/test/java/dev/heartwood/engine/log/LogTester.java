package dev.heartwood.engine.log;

import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.os.MemoryRegions;
import java.lang.foreign.Arena;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Appends operations made from seeds to a log and collects what it replays. One thread. */
final class LogTester implements ReplaySink, AutoCloseable {
    /** One record: its first sequence, its generation and what its entries are made from. */
    record Operation(long generation, long sequence, int entries, boolean isBatch, List<String> texts) {
        /** A put that is made from a text. */
        static Operation put(long generation, long sequence, String text) {
            return new Operation(generation, sequence, 1, false, List.of(text));
        }

        long payloadBytes() {
            long bytes = isBatch ? WriteAheadLog.batchPayloadBytes(0) : 0;
            for (String text : texts) {
                int length = text.length();
                bytes += isBatch ? BatchPayload.entryBytes(keyLength(text), length - keyLength(text)) : length;
            }
            return bytes;
        }
    }

    private static final int BUFFER_BYTES = 1 << 20;

    final List<Operation> replayed = new ArrayList<>();
    private final Arena arena = Arena.ofAuto();
    private long buffer;
    private List<String> batch;
    private long batchSequence;
    private int batchCount;
    private long generation;
    int throwAfter = Integer.MAX_VALUE;

    /** Thrown by the sink: stands for the death of the process in the middle of a recovery. */
    static final class Died extends RuntimeException {
        private static final long serialVersionUID = 1;
    }

    static Operation operation(Random random, long generation, long sequence, int bytesMax) {
        boolean isBatch = random.nextInt(4) == 0;
        int entries = isBatch ? random.nextInt(6) : 1;
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < entries; i++) {
            texts.add(text(random, bytesMax));
        }
        return new Operation(generation, sequence, entries, isBatch, texts);
    }

    private static String text(Random random, int bytesMax) {
        int length = random.nextInt(20) == 0 ? random.nextInt(bytesMax) : random.nextInt(60);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append((char) ('a' + random.nextInt(26)));
        }
        return text.toString();
    }

    static byte kind(String text) {
        byte kind = (byte) (1 + text.length() % 3);
        return kind == Entries.DELETE && text.length() > 1000 ? Entries.PUT : kind;
    }

    static int keyLength(String text) {
        return kind(text) == Entries.DELETE ? text.length() : Math.min(text.length() / 3, 1000);
    }

    void append(WriteAheadLog log, int lane, Operation operation) {
        log.reserve(lane, operation.payloadBytes());
        appendReserved(log, lane, operation);
    }

    void appendReserved(WriteAheadLog log, int lane, Operation operation) {
        if (buffer == 0) {
            buffer = arena.allocate(BUFFER_BYTES, 8).address();
            MemoryRegions.add(buffer, BUFFER_BYTES);
        }
        long at = buffer;
        for (String text : operation.texts()) {
            byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
            if (operation.isBatch()) {
                at = BatchPayload.putHeader(at, kind(text), keyLength(text), text.length() - keyLength(text));
            }
            Memory.copyFrom(bytes, 0, at, bytes.length);
            if (!operation.isBatch()) {
                int key = keyLength(text);
                log.append(lane, operation.sequence(), kind(text), at, key, at + key, text.length() - key);
            }
            at += bytes.length;
        }
        if (operation.isBatch()) {
            log.appendBatch(lane, operation.sequence(), operation.entries(), buffer, at - buffer);
        }
    }

    @Override
    public void beginGeneration(long number) {
        if (number <= generation) {
            throw new AssertionError("generation " + number + " after " + generation);
        }
        generation = number;
    }

    @Override
    public void beginBatch(long sequence, int count) {
        if (batch != null) {
            throw new AssertionError("batch in a batch");
        }
        batch = new ArrayList<>();
        batchSequence = sequence;
        batchCount = count;
    }

    @Override
    public void entry(long sequence, byte kind, long key, int keyLength, long value, int valueLength) {
        if (throwAfter-- == 0) {
            throw new Died();
        }
        String text = new String(Memory.bytes(key, keyLength), StandardCharsets.ISO_8859_1)
                + new String(Memory.bytes(value, valueLength), StandardCharsets.ISO_8859_1);
        if (kind != kind(text) || keyLength != keyLength(text)) {
            throw new AssertionError("entry " + sequence + " differs");
        }
        if (batch == null) {
            replayed.add(new Operation(generation, sequence, 1, false, List.of(text)));
        } else {
            if (sequence != batchSequence + batch.size()) {
                throw new AssertionError("sequence " + sequence + " in the batch of " + batchSequence);
            }
            batch.add(text);
        }
    }

    @Override
    public void endBatch() {
        if (batch.size() != batchCount) {
            throw new AssertionError("batch of " + batch.size() + ", announced as " + batchCount);
        }
        replayed.add(new Operation(generation, batchSequence, batchCount, true, batch));
        batch = null;
    }

    @Override
    public void close() {
        if (buffer != 0) {
            MemoryRegions.remove(buffer);
        }
    }
}
