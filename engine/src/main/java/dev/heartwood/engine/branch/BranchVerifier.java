package dev.heartwood.engine.branch;

import static dev.heartwood.engine.branch.KeyedPageLayout.*;

import dev.heartwood.InsufficientMemoryException;
import dev.heartwood.StoreException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Keys;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.engine.page.PageLayout;
import dev.heartwood.engine.page.PageType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;

/** Walks a whole branch and lists everything about it that is not as it should be. Belongs to one thread; may take long. */
public final class BranchVerifier {
    /*
     * Down from the root, with the separators on either side of each page. What lies under a page that cannot be read is skipped
     * and the counts are then not compared. No page says which its parent is, and damaged ones may all have the same children: so
     * the walk ends when it has been to as many pages as there are.
     */
    private static final int PROBLEMS_MAX = 1000;

    /**
     * What the walk found.
     *
     * @param entries entries read
     * @param pages pages read, without overflow pages
     * @param problems one line each, empty when the branch is sound; of more than 1000 the first, and how many are left out
     */
    public record Report(long entries, long pages, List<String> problems) {}

    /** What is on either side of a separator: of its own key, versioned, the entries above {@code sequence} are to the left. */
    private record Bound(byte[] key, boolean versioned, long sequence) {
        /** Whether an entry may be to the right of this bound. Entries equal in key and sequence may be on both sides. */
        boolean allowsRight(byte[] entryKey, long entrySequence) {
            int order = Arrays.compareUnsigned(key, entryKey);
            return order < 0 || order == 0 && (!versioned || entrySequence <= sequence);
        }

        /** Whether an entry may be to the left of this bound. */
        boolean allowsLeft(byte[] entryKey, long entrySequence) {
            int order = Arrays.compareUnsigned(key, entryKey);
            return order > 0 || order == 0 && versioned && entrySequence >= sequence;
        }
    }

    private final Branch branch;
    private final Consumer<byte[]> keys;
    private final List<String> problems = new ArrayList<>();
    private final long[] groupBytes;
    private byte[] lastKey;
    private byte[] firstKey;
    private long lastSequence;
    private long entries;
    private long tombstones;
    private long dataBytes;
    private long sequenceMax;
    private long pages;
    private long visits;
    private int nextLeaf;
    private boolean incomplete;
    private long leftOut;

    private BranchVerifier(Branch branch, Consumer<byte[]> keys) {
        this.branch = branch;
        this.keys = keys;
        this.groupBytes = new long[branch.groups.length];
    }

    /**
     * Verifies every page, large values included; the caller holds the branch.
     *
     * @throws InsufficientMemoryException when there is no memory to read a page into, which is no damage
     */
    public static Report verify(Branch branch) {
        return verify(branch, key -> {});
    }

    /** As {@link #verify(Branch)}; every key that can be read is given to {@code keys}, once for each of its entries. */
    public static Report verify(Branch branch, Consumer<byte[]> keys) {
        BranchVerifier verifier = new BranchVerifier(branch, keys);
        verifier.visit(branch.root(), branch.levels(), null, null);
        if (!verifier.incomplete) {
            verifier.compareCounts();
        }
        if (verifier.leftOut > 0) {
            verifier.problems.add("and " + verifier.leftOut + " more of branch " + branch.id());
        }
        return new Report(verifier.entries, verifier.pages, List.copyOf(verifier.problems));
    }

    private void visit(int number, int level, Bound low, Bound high) {
        if (++visits > branch.pageCount()) {
            if (visits == branch.pageCount() + 1L) {
                problem(number, "there are more ways to pages than pages: the rest is passed over");
            }
            incomplete = true;
            return;
        }
        PageType type = level == 0 ? PageType.BRANCH_LEAF : PageType.BRANCH_INDEX;
        long page = 0;
        try {
            readAhead(number, level);
            page = branch.storage.file().lockShared(branch.devicePage(number), type, branch.id);
            pages++;
            expect(number, "level", level, KeyedPage.level(page));
            if (level == 0) {
                expect(number, "the leaf after the one before", nextLeaf, number);
                nextLeaf = number + 1;
                visitEntries(number, page, low, high);
            } else {
                visitChildren(number, page, level, low, high);
            }
        } catch (InsufficientMemoryException e) {
            throw e; // which says nothing of the page
        } catch (StoreException e) {
            incomplete = true;
            nextLeaf = level == 0 ? number + 1 : nextLeaf;
            problem(number, e.getMessage() + " (keys" + text(low, " from ") + text(high, " up to ") + ")");
        } finally {
            if (page != 0) {
                branch.storage.file().unlockShared(page);
            }
        }
    }

    /** Asks for the leaves of an extent at once. */
    private void readAhead(int number, int level) {
        if (level == 0 && (number & PageLayout.EXTENT_PAGES - 1) == 0) {
            int count = Math.min(PageLayout.EXTENT_PAGES, branch.leafPages() - number);
            if (count > 1) {
                branch.storage.file().prefetch(branch.devicePage(number), count, PageType.BRANCH_LEAF, branch.id);
            }
        }
    }

    private static String text(Bound bound, String before) {
        return bound == null ? "" : before + Keys.text(bound.key());
    }

    private void visitChildren(int number, long page, int level, Bound low, Bound high) {
        int count = KeyedPage.count(page);
        Bound left = low;
        for (int i = 0; i <= count; i++) {
            Bound right = i == count ? high : separator(page, count, i);
            int child = BranchReader.child(page, branch, level, i);
            if (i < count && left != null && !left.allowsRight(right.key(), right.sequence())) {
                problem(number, "separator " + i + " is not after the one before it");
            }
            if (level > 1 && child >= number) {
                problem(number, "child " + child + " is not before its parent");
            } else {
                if (level == 1) {
                    nextLeaf = incomplete ? child : nextLeaf;
                }
                visit(child, level - 1, left, right);
            }
            left = right;
        }
    }

    private Bound separator(long page, int count, int index) {
        int bounds = KeyedPage.bounds(page, count, index);
        int meta = KeyedPage.meta(page, bounds);
        byte[] key = key(page, count, index, bounds, false);
        return switch (meta & KIND_MASK) {
            case SEPARATOR -> new Bound(key, false, 0);
            case SEPARATOR_CONTINUED -> new Bound(key, true, -1);
            default -> new Bound(key, true, KeyedPage.sequence(page, bounds, 0));
        };
    }

    private byte[] key(long page, int count, int index, int bounds, boolean counted) {
        byte[] inline = KeyedPage.inlineKey(page, count, index);
        if ((KeyedPage.meta(page, bounds) & KEY_OVERFLOWS) == 0) {
            return inline;
        }
        int at = KeyedPage.tail(KeyedPage.keyField(page, bounds));
        OverflowGroup group = KeyedPage.group(page, at, bounds & 0xffff, branch);
        int length = KeyedPage.keyReferenceLength(page, at, group, inline.length);
        byte[] key = Arrays.copyOf(inline, length);
        read(group, KeyedPage.referencePosition(page + at), key, inline.length);
        if (counted) {
            count(page, at, length - inline.length);
        }
        return key;
    }

    private static void read(OverflowGroup group, long position, byte[] to, int offset) {
        group.read(position, java.lang.foreign.MemorySegment.ofArray(to), offset, to.length - offset);
    }

    /** Counts what the reference at an offset of a page names, which is known to be one of the groups. */
    private void count(long page, int offset, long bytes) {
        groupBytes[Memory.getUnsignedShort(page + offset + REFERENCE_GROUP)] += bytes;
    }

    private void visitEntries(int number, long page, Bound low, Bound high) {
        int count = KeyedPage.count(page);
        if (count == 0) {
            problem(number, "a leaf without entries");
        }
        long base = Memory.getLong(page + SEQUENCE_BASE);
        for (int i = 0; i < count; i++) {
            int bounds = KeyedPage.bounds(page, count, i);
            byte[] key = key(page, count, i, bounds, true);
            long sequence = KeyedPage.sequence(page, bounds, base);
            if (low != null && !low.allowsRight(key, sequence) || high != null && !high.allowsLeft(key, sequence)) {
                problem(number, "entry " + i + " does not belong between its separators");
            }
            visitEntry(number, page, bounds, i, key, sequence);
        }
    }

    private void visitEntry(int number, long page, int bounds, int index, byte[] key, long sequence) {
        if (lastKey != null) {
            int order = Arrays.compareUnsigned(lastKey, key);
            if (order > 0 || order == 0 && sequence > lastSequence) {
                problem(number, "entry " + index + " is before the one before it");
            }
        } else {
            firstKey = key;
        }
        keys.accept(key);
        lastKey = key;
        lastSequence = sequence;
        entries++;
        sequenceMax = Math.max(sequenceMax, sequence);
        int meta = KeyedPage.meta(page, bounds);
        tombstones += BranchReader.kind(page, meta) == Entries.DELETE ? 1 : 0;
        int value = KeyedPage.valueOffset(page, bounds, KeyedPage.keyField(page, bounds));
        int length = (bounds & 0xffff) - value;
        if (index == KeyedPage.count(page) - 1 && KeyedPage.lastContinues(page)) {
            length += visitContinuation(number, page, bounds, value) - CONTINUATION_LENGTH_BYTES;
        } else if ((meta & VALUE_OVERFLOWS) != 0) {
            length = visitLargeValue(page, value, bounds & 0xffff);
        }
        dataBytes += key.length + (long) length;
    }

    private int visitContinuation(int number, long page, int bounds, int value) {
        if ((KeyedPage.meta(page, bounds) & (KEY_OVERFLOWS | VALUE_OVERFLOWS)) != 0) {
            problem(number, "an entry goes on in the next leaf that lies in an overflow group");
        }
        int length = KeyedPage.continuationLength(page, value, bounds & 0xffff);
        long next = lockLeaf(KeyedPage.nextLeaf(page, branch, number));
        try {
            KeyedPage.continuation(next, length);
        } finally {
            branch.storage.file().unlockShared(next);
        }
        return length;
    }

    private long lockLeaf(int number) {
        return branch.storage.file().lockShared(branch.devicePage(number), PageType.BRANCH_LEAF, branch.id);
    }

    private int visitLargeValue(long page, int value, int end) {
        OverflowGroup group = KeyedPage.group(page, value, end, branch);
        int length = KeyedPage.valueReferenceLength(page, value, group);
        long position = KeyedPage.referencePosition(page + value);
        byte[] part = new byte[Math.min(length, 1 << 20)];
        for (long done = 0; done < length; done += part.length) {
            byte[] here = length - done < part.length ? new byte[(int) (length - done)] : part;
            read(group, position + done, here, 0);
        }
        count(page, value, length);
        return length;
    }

    private void compareCounts() {
        int root = branch.root();
        expect(root, "entries", branch.entries(), entries);
        expect(root, "tombstones", branch.tombstones(), tombstones);
        expect(root, "bytes of data", branch.dataBytes(), dataBytes);
        expect(root, "greatest sequence", branch.sequenceMax(), sequenceMax);
        expect(root, "leaves", branch.leafPages(), nextLeaf);
        BranchShape shape = branch.shape();
        expect(root, "pages", shape.leafPages() + (long) shape.pageCount() - shape.firstIndexPage(), pages);
        if (!Arrays.equals(branch.firstKey(), firstKey) || !Arrays.equals(branch.lastKey(), lastKey)) {
            problem(root, "the first or the last key is not the descriptor's");
        }
        for (int i = 0; i < groupBytes.length; i++) {
            String what = "bytes referred to in overflow group " + branch.groups[i].id();
            expect(root, what, branch.overflowBytes()[i], groupBytes[i]);
        }
    }

    private void expect(int number, String what, long expected, long found) {
        if (expected != found) {
            problem(number, what + ": expected " + expected + ", found " + found);
        }
    }

    private void problem(int number, String text) {
        if (problems.size() < PROBLEMS_MAX) {
            long filePage = number < branch.pageCount() ? branch.devicePage(number) : -1;
            problems.add("branch " + branch.id() + ", page " + number + " (page " + filePage + " of the file): " + text);
        } else {
            leftOut++;
        }
    }
}
