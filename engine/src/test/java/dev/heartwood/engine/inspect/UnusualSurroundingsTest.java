package dev.heartwood.engine.inspect;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.CorruptionException;
import dev.heartwood.Heartwood;
import dev.heartwood.StoreOptions.IoMode;
import dev.heartwood.engine.device.FileStorage;
import dev.heartwood.engine.device.Storage;
import dev.heartwood.engine.verify.StoreFixture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the commands make of files that are none of a store's kind, of output that leads nowhere, and of a full heap. */
class UnusualSurroundingsTest {
    @TempDir
    private Path base;

    private Path sound;

    @BeforeEach
    void makeStore() {
        sound = base.resolve("sound");
        StoreFixture.makeClosed(sound, 1);
    }

    /** It was said to have left something that is no store. */
    @Test
    void aSalvageThatFindsTheHeapFullBeforeItBeginsHasLeftNothing() {
        Path to = base.resolve("salvaged-not-begun");
        CopyCommands commands = new CopyCommands(new PrintStream(new ByteArrayOutputStream()), System.err);
        try (Storage from = FileStorage.reading(sound, IoMode.BUFFERED)) {
            assertThrows(OutOfMemoryError.class, () -> commands.salvage(from, to, options -> {
                throw new OutOfMemoryError("heap");
            }));
        }
    }

    /** On a full disk it looked as if nothing had been found. */
    @Test
    void outputThatCannotBeWrittenIsToldOf() {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream full = new PrintStream(new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("full");
            }
        });
        int code = Main.run(new String[] {"verify", sound.toString()}, full, new PrintStream(said));
        assertEquals(Main.CANNOT_SAY, code);
        assertTrue(said.toString().contains("standard output cannot be written"), said.toString());
    }

    /** Whoever read it waited for a writer. */
    @Test
    void aPipeInAFilesPlaceIsRefused() throws IOException, InterruptedException {
        Path pipe = sound.resolve("session");
        Files.deleteIfExists(pipe);
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        assertTrue(Outcome.of("verify", sound.toString()).code() != Main.CLEAN);
    }

    /** All of it was read before it was found to be too long, and the Java heap had no room for that. */
    @Test
    void aMarkOfHundredsOfMegabytesIsDamaged() throws IOException {
        try (RandomAccessFile session = new RandomAccessFile(sound.resolve("session").toFile(), "rw")) {
            session.setLength(300 << 20);
        }
        CorruptionException damage =
                assertThrows(CorruptionException.class, () -> Heartwood.open(sound, StoreFixture.options()));
        assertTrue(damage.getMessage().contains("a file of " + (300 << 20)), damage.getMessage());
        assertEquals(Main.DAMAGED, Outcome.of("verify", sound.toString()).code());
        assertEquals(Main.CLEAN, Outcome.of("salvage", sound.toString(), base.resolve("of-a-long-mark").toString()).code());
    }
}
