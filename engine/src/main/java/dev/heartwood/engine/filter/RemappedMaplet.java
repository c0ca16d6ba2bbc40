package dev.heartwood.engine.filter;

/** The entries of a maplet with other values, their fingerprints cut; those that get no value are left out. */
final class RemappedMaplet implements SortedEntries {
    private final MapletCursor cursor;
    private final int[] newValues;
    private final int cut;
    private boolean more;

    private long fingerprint;
    private long values;

    /**
     * Entries from the first on.
     *
     * @param cursor before its first entry; closed with this
     * @param newValues the new value of each old one, or -1
     * @param bitsCut bits by which fingerprints are shortened
     */
    RemappedMaplet(MapletCursor cursor, int[] newValues, int bitsCut) {
        assert bitsCut >= 0;
        this.cursor = cursor;
        this.newValues = newValues;
        this.cut = bitsCut;
        this.more = cursor.next();
    }

    @Override
    public boolean next() {
        do {
            if (!more) {
                return false;
            }
            fingerprint = cursor.fingerprint() >>> cut;
            values = 0;
            do {
                int value = cursor.value();
                if (value < newValues.length && newValues[value] >= 0) {
                    values |= 1L << newValues[value];
                }
                more = cursor.next();
            } while (more && cursor.fingerprint() >>> cut == fingerprint);
        } while (values == 0);
        return true;
    }

    @Override
    public long fingerprint() {
        return fingerprint;
    }

    @Override
    public long values() {
        return values;
    }

    @Override
    public void close() {
        cursor.close();
    }
}
