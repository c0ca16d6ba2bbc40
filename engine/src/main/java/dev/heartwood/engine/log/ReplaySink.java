package dev.heartwood.engine.log;

/**
 * Takes what the log replays, in the order of sequence numbers. The addresses are readable during the call only. What it throws
 * ends the replay and reaches its caller.
 */
public interface ReplaySink {
    /** What follows, up to the next call of this, was appended in this generation. Generations come in ascending order. */
    void beginGeneration(long generation);

    /** The next {@code count} entries are one batch, whole, and carry {@code sequence}, {@code sequence + 1} and so on. */
    void beginBatch(long sequence, int count);

    /** One entry; a delete has a value of length 0. */
    void entry(
            long sequence, byte kind, long keyAddress, int keyLength, long valueAddress, int valueLength);

    /** The batch is complete. */
    void endBatch();
}
