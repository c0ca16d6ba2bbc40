package dev.heartwood.engine.inspect;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.engine.verify.StoreFixture;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Where the commands write no copy to, and what they say of it. */
class CopyTargetTest {
    @TempDir
    private Path base;

    /** An argument that is no text in the charset of the locale has these in place of it, and another directory was read, or written to. */
    @Test
    void namesThatAreNoTextAreRefused() throws IOException {
        Path from = base.resolve("to-copy");
        StoreFixture.makeClosed(from, 1);
        byte[] before = Files.readAllBytes(from.resolve("data.hw"));
        String undecoded = base.resolve("x") + "\ufffd";
        for (String[] arguments : new String[][] {
            {"verify", undecoded}, {"inspect", undecoded}, {"backup", from.toString(), undecoded}, {"salvage", from.toString(), undecoded}
        }) {
            Outcome outcome = Outcome.of(arguments);
            assertEquals(Main.WRONG_ARGUMENTS, outcome.code(), outcome.toString());
            assertTrue(outcome.err().contains(base.resolve("x").toString()), outcome.err());
            assertEquals("", outcome.out());
        }
        assertArrayEquals(before, Files.readAllBytes(from.resolve("data.hw")));
    }

    /** A copy of some names there had the store itself be refused. */
    @ParameterizedTest
    @ValueSource(strings = {"copy", "copy-unfinished", "creating", "deep/below", "../to-lie-in/copy"})
    void noCopyLiesInTheStore(String name) throws IOException {
        Path from = base.resolve("to-lie-in");
        StoreFixture.makeClosed(from, 1);
        Path to = from.resolve(name);
        for (String command : List.of("backup", "salvage")) {
            Outcome outcome = Outcome.of(command, from.toString(), to.toString());
            assertEquals(Main.CANNOT_OPEN, outcome.code(), outcome.toString());
            assertEquals("cannot write a copy to " + to + ": it lies in the directory of the store, " + from + "\n", outcome.err());
            assertFalse(Files.exists(to));
            assertEquals(Main.CLEAN, Outcome.of("verify", from.toString()).code());
        }
    }

    @Test
    void aCopyMayLieBesideTheStore() throws IOException {
        Path from = base.resolve("beside");
        StoreFixture.makeClosed(from, 1);
        for (String command : List.of("backup", "salvage")) {
            Outcome outcome = Outcome.of(command, from.toString(), base.resolve("beside-" + command).toString());
            assertEquals(Main.CLEAN, outcome.code(), outcome.toString());
        }
    }

    /** It was said to be no store, which a target need not be. */
    @Test
    void aFileIsNoTarget() throws IOException {
        Path file = Files.writeString(base.resolve("file"), "of somebody");
        Path from = base.resolve("to-no-directory");
        StoreFixture.makeClosed(from, 1);
        for (String command : List.of("backup", "salvage")) {
            for (Path to : List.of(file, file.resolve("below"))) {
                Outcome outcome = Outcome.of(command, from.toString(), to.toString());
                assertEquals(Main.CANNOT_OPEN, outcome.code(), outcome.toString());
                assertEquals("cannot write a copy to " + to.toAbsolutePath() + ": it is not a directory\n", outcome.err());
            }
        }
        assertEquals("of somebody", Files.readString(file));
    }
}
