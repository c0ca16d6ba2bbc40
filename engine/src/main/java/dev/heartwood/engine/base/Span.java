package dev.heartwood.engine.base;

import java.util.Arrays;

/**
 * A range of keys inside the engine: from {@code from}, inclusive, to {@code to}, exclusive; null is no bound. The arrays are
 * never changed.
 */
public record Span(byte[] from, byte[] to) {
    /** Every key. */
    public static final Span ALL = new Span(null, null);

    /** Whether no key can lie in this span. */
    public boolean isEmpty() {
        return Keys.isEmpty(from, to);
    }

    /** The keys in both spans. */
    public Span intersect(Span other) {
        if (other == ALL) {
            return this;
        }
        if (this == ALL) {
            return other;
        }
        return new Span(Keys.laterFrom(from, other.from), Keys.earlierTo(to, other.to));
    }

    /** Whether every key of {@code other} lies in this span; no key lies before the empty one. */
    public boolean covers(Span other) {
        return (from == null || from.length == 0 || other.from != null && (from == other.from || Keys.compare(from, other.from) <= 0))
                && (to == null || other.to != null && (to == other.to || Keys.compare(other.to, to) <= 0));
    }

    /** Whether {@code key} lies in this span. */
    public boolean contains(byte[] key) {
        return (from == null || Keys.compare(from, key) <= 0) && Keys.isBefore(key, to);
    }

    /** The keys in words, for messages. */
    public String words() {
        return (from == null || from.length == 0) && to == null ? "all keys" : "keys " + this;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Span s && Arrays.equals(from, s.from) && Arrays.equals(to, s.to);
    }

    @Override
    public int hashCode() {
        return 31 * Arrays.hashCode(from) + Arrays.hashCode(to);
    }

    @Override
    public String toString() {
        return "[" + (from == null ? "" : Keys.text(from)) + ", " + (to == null ? "" : Keys.text(to)) + ")";
    }
}
