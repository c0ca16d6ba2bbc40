package dev.heartwood.engine.branch;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;

/**
 * The overflow groups that recovery has met, by id, so that the branches it decodes share them, and how many extents all of them are said
 * to have. Holds a reference to each until it
 * is closed. Belongs to one thread.
 */
public final class OverflowGroups implements AutoCloseable {
    /** So many extents beyond the end of the file are taken for real, half a TiB, since what is left of one that was cut off can be read. */
    private static final long EXTENTS_BEYOND_MAX = 1 << 22;

    private final Map<Long, OverflowGroup> groups = new HashMap<>();
    private long within;
    private long beyond;

    /** Counts the extents of a branch or a group, in a file of so many, if all together may be there; returns whether they may. */
    boolean admits(int[] extents, long extentsOfFile) {
        int more = 0;
        for (int extent : extents) {
            more += extent < extentsOfFile ? 1 : 0;
        }
        boolean admits = within + more <= extentsOfFile && beyond + extents.length - more <= EXTENTS_BEYOND_MAX;
        if (admits) {
            within += more;
            beyond += extents.length - more;
        }
        return admits;
    }

    boolean has(long id) {
        return groups.containsKey(id);
    }

    /** The group met before under this id, or a new one; null when it does not look like the one met before. */
    OverflowGroup resolve(BranchStorage storage, long id, int[] extents, long bytes) {
        OverflowGroup group = groups.get(id);
        if (group == null) {
            group = new OverflowGroup(storage, id, extents, bytes);
            groups.put(id, group);
            return group;
        }
        return group.bytes() == bytes && Arrays.equals(group.extents(), extents) ? group : null;
    }

    /** The groups met so far. */
    public Iterable<OverflowGroup> all() {
        return groups.values();
    }

    /** Gives the references up: groups that no branch took are released. */
    @Override
    public void close() {
        groups.values().forEach(group -> group.release(0));
        groups.clear();
    }
}
