package dev.heartwood.engine.write;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.engine.background.Generations.Generation;

/** Where memtables come from. */
public interface MemtableSource {
    /** A new generation with an empty memtable. */
    Generation make(long number);

    /** The size of a full one. */
    long memtableBytes();

    /** The most bytes that a lane may write before it pays, so that it is told of in time what others write. */
    long paymentBytesMax();

    /** Refuses a write of more bytes than one may be, with {@link InsufficientMemoryException}. */
    void checkFits(long bytes);

    /** Refuses entries, with so many bytes of keys and values together, that no memtable could ever hold, with the same. */
    void checkHolds(int count, long userBytes);

    /** Whether a piece of the memtables' memory is so large that others may leave none free. */
    boolean isLarge(long blockBytes);

    /** Asks whoever holds most memory to seal. */
    void relieve();

    /** Whether so many stores share the memory that hardly ever two write to one at once. */
    boolean isOneOfMany();

    /** Where several stores share the memory, has memtables sealed before it is gone. For who writes, now and then; waits for nobody. */
    void sealAhead();

    /** Has memory given back that stores have in memtables without entries; returns whether there was any. */
    boolean giveBackEmpty();

    /** Has open views give back what the tree has by now. */
    void recall();

    /** Which stores keep memory because they have failed, for a message; empty when none does. */
    String toldOfStopped();

    /** Whether some memtable, of any store, may still be packed, or is by now, and its memory given back. */
    boolean isMemoryComing();
}
