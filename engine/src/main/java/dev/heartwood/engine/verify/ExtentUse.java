package dev.heartwood.engine.verify;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.IntPredicate;

/** Who uses which extent of the data file. One thread. */
public final class ExtentUse {
    private static final String NODES = "trunk nodes";

    private final long fileExtents;
    private final Map<Long, String> owners = new HashMap<>();
    private final Set<Long> nodePages = new HashSet<>();
    private final Set<Long> doubled = new HashSet<>();
    private final Consumer<String> problems;

    /** Extent 0 is the superblocks'. */
    public ExtentUse(long fileExtents, Consumer<String> problems) {
        this.fileExtents = fileExtents;
        this.problems = problems;
        owners.put(0L, "superblocks");
    }

    /** Notes that {@code owner} alone uses an extent. */
    public void use(long extent, String owner) {
        String other = owners.putIfAbsent(extent, owner);
        if (other != null) {
            doubled.add(extent);
            problems.accept("extent " + extent + ": used twice, by " + other + " and by " + owner);
        } else {
            requireInFile(extent, owner);
        }
    }

    /** Notes a page of a node image; nodes share extents with each other, but not pages. */
    public void useByNode(long page, long extent) {
        if (!nodePages.add(page)) {
            problems.accept("extent " + extent + ": page " + page + " is used by two trunk nodes");
        }
        String other = owners.putIfAbsent(extent, NODES);
        if (other == null) {
            requireInFile(extent, NODES);
        } else if (!other.equals(NODES)) {
            doubled.add(extent);
            problems.accept("extent " + extent + ": used twice, by " + other + " and by " + NODES);
        }
    }

    private void requireInFile(long extent, String owner) {
        if (extent >= fileExtents) {
            problems.accept("extent " + extent + ": lost, used by " + owner + ", and the file has " + fileExtents);
        }
    }

    /** Whether one owner alone uses all of these and the file has them. */
    public boolean areSound(int[] extents) {
        for (int extent : extents) {
            if (doubled.contains((long) extent)) {
                return false;
            }
        }
        return areInFile(extents);
    }

    /** Whether the file has all of these. */
    public boolean areInFile(int[] extents) {
        for (int extent : extents) {
            if (extent >= fileExtents) {
                return false;
            }
        }
        return true;
    }

    /** Names every extent of the file that is in use and does not pass. */
    void unless(IntPredicate passes, IntConsumer found) {
        for (long extent : owners.keySet()) {
            if (extent != 0 && extent < fileExtents && !passes.test((int) extent)) {
                found.accept((int) extent);
            }
        }
    }

    /** Extents in use, that of the superblocks included. */
    public long used() {
        return owners.size();
    }

    public long fileExtents() {
        return fileExtents;
    }

    public long free() {
        return Math.max(0, fileExtents - used());
    }
}
