package dev.heartwood;

import java.util.List;

/**
 * What a verification found.
 *
 * @param problems all damage, one line each; empty when the store is sound. Of a branch with more than 1,000 such lines the first are
 *     there, and one that says how many more there are
 * @param notes what is worth knowing and no damage
 * @param nodes trunk nodes read
 * @param branches branches read
 * @param filters filters read
 * @param entries entries read, overwritten versions and tombstones included
 * @param pages pages of branches, overflow groups and filters read
 * @param fileExtents extents of the data file
 * @param usedExtents extents that something refers to
 * @param logRecords records that the next open replays; 0 for a store that is open
 */
public record VerifyReport(
        List<String> problems,
        List<String> notes,
        int nodes,
        int branches,
        int filters,
        long entries,
        long pages,
        long fileExtents,
        long usedExtents,
        long logRecords) {
    /** Keeps copies of the lists. */
    public VerifyReport {
        problems = List.copyOf(problems);
        notes = List.copyOf(notes);
    }

    /** Whether nothing is wrong. */
    public boolean isClean() {
        return problems.isEmpty();
    }
}
