package dev.heartwood.engine.merge;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.NoSpaceException;
import dev.heartwood.engine.base.EntryCursor;
import dev.heartwood.engine.branch.Branch;
import dev.heartwood.engine.branch.BranchWriter;
import dev.heartwood.engine.branch.LargeValueCursor;
import dev.heartwood.engine.branch.MergeInputs;
import dev.heartwood.engine.branch.OverflowGroup;
import dev.heartwood.engine.branch.WriteMode;
import dev.heartwood.engine.filter.FingerprintBuffer;
import dev.heartwood.engine.node.KeptVersions;
import dev.heartwood.engine.node.KeySample;
import dev.heartwood.engine.node.Run;
import dev.heartwood.engine.node.TreeStorage;
import dev.heartwood.engine.os.KeyHasher;

/**
 * Writes a run: the branch, the fingerprints of its keys and the sample of them, in one pass. Used once, by one thread; ends with
 * {@link #finish} or {@link #close}.
 */
final class RunWriter implements EntrySink, AutoCloseable {
    private final TreeStorage storage;
    private final BranchWriter branch;
    private final RunFingerprints fingerprints;
    /** Null when they are the same as the fingerprints, or not asked for. */
    private final FingerprintBuffer keyHashes;
    private boolean hasFingerprints = true;
    private final KeySample.Builder sample = new KeySample.Builder();
    private long bytes;
    /** Null until it is finished. */
    private Branch written;

    private Run run;

    /** @param fingerprints to be filled, and closed; they are given up when there is no memory or no space for them */
    RunWriter(TreeStorage storage, long id, WriteMode mode, RunFingerprints fingerprints) {
        this(storage, id, mode, fingerprints, null);
    }

    /** A writer whose {@link #keyHashes} will be asked for. */
    static RunWriter withKeyHashes(TreeStorage storage, long id, WriteMode mode) {
        FingerprintBuffer keyHashes = storage.hasGroups() ? new FingerprintBuffer(storage.mergeBuffers()) : null;
        return new RunWriter(storage, id, mode, RunFingerprints.ofPacked(storage), keyHashes);
    }

    private RunWriter(
            TreeStorage storage, long id, WriteMode mode, RunFingerprints fingerprints, FingerprintBuffer keyHashes) {
        this.storage = storage;
        this.keyHashes = keyHashes;
        this.fingerprints = fingerprints;
        this.branch = new BranchWriter(storage.branches(), id, mode);
    }

    /** From now on large values are copied to where this run's lie, in the order of keys. */
    void gatherLargeValues() {
        branch.gatherLargeValues();
    }

    /** From now on leaves may take the places in the cache of what was found there of these inputs. */
    void takePlacesOf(MergeInputs inputs) {
        branch.takePlacesOf(inputs);
    }

    @Override
    public void addCurrent(EntryCursor cursor, long sequence) {
        long key = cursor.keyAddress();
        int keyLength = cursor.keyLength();
        int valueLength = cursor.valueLength();
        if (cursor instanceof LargeValueCursor large && large.largeGroup() != null) {
            OverflowGroup group = large.largeGroup();
            if (branch.copies(group)) {
                large.readAheadLarge();
            }
            branch.addLarge(key, keyLength, sequence, cursor.kind(), group, large.largePosition(), valueLength);
        } else {
            branch.add(key, keyLength, sequence, cursor.kind(), cursor.valueAddress(), valueLength);
        }
        note(key, keyLength, valueLength);
    }

    @Override
    public void add(long key, int keyLength, long sequence, byte kind, byte[] value) {
        branch.add(key, keyLength, sequence, kind, value);
        note(key, keyLength, value.length);
    }

    @Override
    public long entries() {
        return branch.entries();
    }

    private void note(long key, int keyLength, int valueLength) {
        bytes += (long) keyLength + valueLength;
        if (hasFingerprints) {
            addFingerprints(key, keyLength);
        }
        sample.add(key, keyLength, (long) keyLength + valueLength);
    }

    private void addFingerprints(long key, int keyLength) {
        try {
            fingerprints.add(storage.filterHash(key, keyLength));
            if (keyHashes != null) {
                keyHashes.add(KeyHasher.hash(key, keyLength));
            }
        } catch (InsufficientMemoryException | NoSpaceException e) {
            hasFingerprints = false;
            closeFingerprints();
        }
    }

    private void closeFingerprints() {
        try {
            fingerprints.close();
        } finally {
            if (keyHashes != null) {
                keyHashes.close();
            }
        }
    }

    /** Bytes of keys and values written so far. */
    long bytes() {
        return bytes;
    }

    /** The fingerprints of everything written, valid until {@link #close}; null when they were given up. */
    RunFingerprints fingerprints() {
        return hasFingerprints ? fingerprints : null;
    }

    /** The hashes of the keys of everything that was packed, which has fingerprints, valid until {@link #close}. */
    FingerprintBuffer keyHashes() {
        return keyHashes != null ? keyHashes : fingerprints.buffer();
    }

    /** The run, with one reference that is the caller's; null when nothing was written. */
    Run finish(KeptVersions kept) {
        if (branch.entries() == 0) {
            return null;
        }
        written = branch.finish();
        run = new Run(written, sample.finish(written.lastKey()), kept);
        return run;
    }

    /** Gives the memory back, and what was written when it was not finished. */
    @Override
    public void close() {
        try {
            closeFingerprints();
        } finally {
            if (written == null) {
                branch.abort();
            } else if (run == null) {
                written.release();
            }
        }
    }
}
