package dev.heartwood.engine.base;

/**
 * What a point search found: a holder that one thread fills again and again. The address stays readable until the epoch of the
 * operation ends.
 */
public final class FoundEntry {
    /** The longest value that lies in two pieces. */
    public static final int ROOM_BYTES = 1280;

    /** What a search waits for the device for; it begins all other reads that it meets, and ends with the first. */
    public enum Waits {
        FOR_ALL,
        /** For the page of the key, and not for that of a value that lies apart. */
        FOR_KEYS,
        FOR_NOTHING
    }

    /** One of {@link Entries}. */
    public byte kind;

    public long sequence;
    /** Where the value lies; 0 when it is empty or in {@link #largeValues}. */
    public long valueAddress;

    public int valueLength;
    /** What holds the value when it is too large to lie in one piece, else null. */
    public LargeValues largeValues;
    /** Where in {@link #largeValues} the value begins. */
    public long largePosition;
    /** How many searches of trees in a row found an entry in the cache. */
    public int foundInCache;
    /** How many did, be it in the cache or on the device. */
    public int foundInARow;
    /** Memory of {@link #ROOM_BYTES} bytes where a value in two pieces is put together, as long as the holder is in use; the caller's. */
    public long room;
    /** Whether a page of it, that of the key or that of the value, had to be read from the device first. */
    public boolean isFromDevice;
    /** What the search waits for; the caller's. */
    public Waits waits = Waits.FOR_ALL;
    /** Whether an earlier search has begun the reads for this one, so that what is in the cache by now was not there; the caller's. */
    public boolean wasBegun;
    /** Whether the search came to a read that it does not wait for: it has begun it, and tells nothing else. */
    public boolean hasBegun;

    /** Makes the holder ready for another search. */
    public void begin(Waits waitsFor, boolean isBegun) {
        waits = waitsFor;
        wasBegun = isBegun;
        hasBegun = false;
    }

    /** Takes an entry whose value lies in one piece. */
    public void set(byte kind, long sequence, long valueAddress, int valueLength) {
        this.kind = kind;
        this.sequence = sequence;
        this.valueAddress = valueAddress;
        this.valueLength = valueLength;
        this.largeValues = null;
        this.isFromDevice = false;
    }

    /** Takes an entry whose value has to be read from {@code values}. */
    public void setLarge(byte kind, long sequence, LargeValues values, long position, int valueLength) {
        this.kind = kind;
        this.sequence = sequence;
        this.valueAddress = 0;
        this.valueLength = valueLength;
        this.largeValues = values;
        this.largePosition = position;
        this.isFromDevice = false;
    }
}
