package dev.heartwood.engine.branch;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.engine.base.Entries;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.branch.BranchFixture.Entry;
import dev.heartwood.engine.os.Memory;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Branches that refer to as many overflow groups as there may be. Most have no pages here: their descriptors are all that is asked for. */
class ManyGroupsTest {
    private static final int GROUPS_MAX = 1 << 16;
    private static final int VALUE_BYTES = 2000;

    private final BranchFixture fixture = new BranchFixture();

    @AfterEach
    void close() {
        fixture.close();
    }

    /** One that nothing releases. */
    private OverflowGroup groupWithoutPages(int number) {
        OverflowGroup group = new OverflowGroup(fixture.storage, fixture.newId(), new int[] {1000 + number}, VALUE_BYTES);
        group.retain(VALUE_BYTES);
        return group;
    }

    /** With a group of its own, in which its value lies. */
    private Branch branchOfOne(int number) {
        return fixture.write(List.of(new Entry(BranchFixture.bytes("last" + number), 1, Entries.PUT, filled(number))));
    }

    private Branch reread(Branch branch) {
        ByteBuffer descriptor = ByteBuffer.allocate(branch.encodedBytes());
        branch.encode(descriptor);
        return Branch.decode(descriptor.flip(), fixture.storage, new OverflowGroups(), "test", 0);
    }

    private void addLarge(BranchWriter writer, String key, OverflowGroup group) {
        writer.addLarge(fixture.key(BranchFixture.bytes(key)), key.length(), 1, Entries.PUT, group, 0, VALUE_BYTES);
    }

    /** Values were shared up to one group too many, and the one that copies went to made the descriptor one that was refused. */
    @Test
    void aBranchWithValuesOfMoreGroupsThanItCanReferToCopiesThem() {
        List<Branch> real = new ArrayList<>();
        BranchWriter writer = new BranchWriter(fixture.storage, fixture.newId(), WriteMode.CACHED);
        for (int i = 0; i < GROUPS_MAX - 4; i++) {
            addLarge(writer, "key%06d".formatted(i), groupWithoutPages(i));
        }
        for (int i = 0; i < 6; i++) {
            real.add(branchOfOne(i));
            addLarge(writer, "last" + i, real.getLast().overflowGroups()[0]);
        }
        Branch written = writer.finish();
        Branch branch = reread(written);
        assertEquals(GROUPS_MAX - 1, branch.overflowGroups().length);
        assertEquals(GROUPS_MAX + 2, branch.entries());
        for (int i = 0; i < 6; i++) {
            Entry found = fixture.find(branch, BranchFixture.bytes("last" + i), Long.MAX_VALUE);
            assertNotNull(found);
            assertArrayEquals(filled(i), found.value());
        }
        int entries = 0;
        int values = 0;
        try (BranchSalvage salvage = new BranchSalvage(branch, (gap, why) -> {
            throw new AssertionError(gap + " is lost: " + why);
        })) {
            while (salvage.next()) {
                entries++;
                if (salvage.key()[0] == 'l') {
                    assertArrayEquals(filled(values++), salvage.value());
                }
            }
        }
        assertEquals(branch.entries(), entries);
        assertEquals(6, values);
        real.forEach(Branch::release);
    }

    /** They were compared one by one for every value. */
    @Test
    void everyValueRefersToItsGroupHoweverManyThereAre() {
        int count = 30_000;
        int rounds = 3;
        OverflowGroup[] groups = new OverflowGroup[count];
        for (int i = 0; i < count; i++) {
            groups[i] = groupWithoutPages(i);
        }
        // Each round meets them in another order, and the second begins with a value that goes to the branch's own.
        int[] strides = {1, 7_919, 17};
        BranchWriter writer = new BranchWriter(fixture.storage, fixture.newId(), WriteMode.CACHED);
        for (int round = 0; round < rounds; round++) {
            if (round == 1) {
                fixture.add(writer, new Entry(BranchFixture.bytes("key1-"), 1, Entries.PUT, filled(1)));
            }
            for (int i = 0; i < count; i++) {
                addLarge(writer, "key%d-%05d".formatted(round, i), groups[(int) ((long) i * strides[round] % count)]);
            }
        }
        Branch branch = writer.finish();
        assertEquals(count + 1, branch.overflowGroups().length);
        for (int i = 0; i < count; i++) {
            assertSame(groups[i], branch.overflowGroups()[i]);
            assertEquals(rounds * VALUE_BYTES, branch.overflowBytes()[i]);
        }
        long entries = 0;
        try (BranchCursor cursor = BranchCursor.cached(branch, Span.ALL)) {
            for (cursor.seekFirst(); cursor.valid(); cursor.next()) {
                String key = new String(Memory.bytes(cursor.keyAddress(), cursor.keyLength()), StandardCharsets.US_ASCII);
                int round = key.charAt(3) - '0';
                OverflowGroup expected = key.length() == 5
                        ? branch.overflowGroups()[count]
                        : groups[(int) (Long.parseLong(key.substring(5)) * strides[round] % count)];
                assertSame(expected, cursor.largeGroup(), key);
                entries++;
            }
        }
        assertEquals(rounds * count + 1, entries);
    }

    private static byte[] filled(int number) {
        byte[] value = new byte[VALUE_BYTES];
        Arrays.fill(value, (byte) number);
        return value;
    }

    /** As many as a reference can tell apart, which writers made before they kept to one less. */
    @Test
    void theMostGroupsThatReferencesCanTellApartAreRead() {
        Branch small = fixture.write(BranchFixture.entries(10, 10));
        OverflowGroup[] groups = new OverflowGroup[GROUPS_MAX + 1];
        for (int i = 0; i < groups.length; i++) {
            groups[i] = groupWithoutPages(i);
        }
        assertEquals(GROUPS_MAX, reread(with(small, Arrays.copyOf(groups, GROUPS_MAX))).overflowGroups().length);
        CorruptionException refusal = assertThrows(CorruptionException.class, () -> reread(with(small, groups)));
        assertTrue(refusal.getMessage().contains("overflow groups"), refusal.getMessage());
        small.release();
    }

    private static Branch with(Branch branch, OverflowGroup[] groups) {
        return new Branch(
                branch.storage,
                branch.id,
                branch.extents,
                branch.shape,
                branch.stats(),
                branch.firstKey(),
                branch.lastKey(),
                groups,
                new long[groups.length]);
    }
}
