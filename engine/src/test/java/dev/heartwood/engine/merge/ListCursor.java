package dev.heartwood.engine.merge;

import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.os.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/** Walks a map, without seeking keys. */
class ListCursor implements EntryCursor {
    /** Room for the longest key and value. */
    static final int SCRATCH_BYTES = 4096;

    private record Entry(String key, History.Version version) {}

    private final List<Entry> entries = new ArrayList<>();
    private final long scratch;
    private int at;

    ListCursor(TreeMap<String, List<History.Version>> input, long scratch) {
        input.forEach((key, versions) -> versions.forEach(version -> entries.add(new Entry(key, version))));
        this.scratch = scratch;
    }

    private void load() {
        if (valid()) {
            Memory.copyFrom(History.bytes(key()), 0, scratch, keyLength());
            Memory.copyFrom(History.bytes(version().value()), 0, scratch + keyLength(), valueLength());
        }
    }

    private String key() {
        return entries.get(at).key;
    }

    private History.Version version() {
        return entries.get(at).version;
    }

    @Override
    public boolean valid() {
        return at >= 0 && at < entries.size();
    }

    @Override
    public void seekFirst() {
        at = 0;
        load();
    }

    @Override
    public void next() {
        at++;
        load();
    }

    @Override
    public void seekLast() {
        at = entries.size() - 1;
        load();
    }

    @Override
    public void seek(long keyAddress, int keyLength) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void seekBefore(long keyAddress, int keyLength) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void previous() {
        at--;
        load();
    }

    @Override
    public long keyAddress() {
        return scratch;
    }

    @Override
    public int keyLength() {
        return key().length();
    }

    @Override
    public long sequence() {
        return version().sequence();
    }

    @Override
    public byte kind() {
        return version().kind();
    }

    @Override
    public long valueAddress() {
        return valueLength() == 0 ? 0 : scratch + keyLength();
    }

    @Override
    public void copyValue(byte[] to) {
        Memory.copyTo(scratch + keyLength(), to, 0, valueLength());
    }

    @Override
    public int valueLength() {
        return version().value().length();
    }

    @Override
    public void close() {}
}
