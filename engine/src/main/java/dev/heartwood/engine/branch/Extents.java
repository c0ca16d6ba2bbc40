package dev.heartwood.engine.branch;

import dev.heartwood.engine.page.PageLayout;
import java.util.Arrays;

/** A list of extents that grows: where a stream of pages lies in the file. */
final class Extents {
    private int[] numbers = new int[4];
    private int count;

    /** Has the next {@link #add} take nothing of the Java heap: an extent for which there is no place would be lost. */
    void makeRoom() {
        if (count == numbers.length) {
            numbers = Arrays.copyOf(numbers, count * 2);
        }
    }

    void add(int extent) {
        makeRoom();
        numbers[count++] = extent;
    }

    int count() {
        return count;
    }

    int number(int index) {
        return numbers[index];
    }

    int[] toArray() {
        return Arrays.copyOf(numbers, count);
    }

    /** The page of the file that holds page {@code page} of a stream. */
    static long devicePage(int[] extents, int page) {
        return ((long) extents[page >>> PageLayout.EXTENT_SHIFT] << PageLayout.EXTENT_SHIFT)
                + (page & PageLayout.EXTENT_PAGES - 1);
    }
}
