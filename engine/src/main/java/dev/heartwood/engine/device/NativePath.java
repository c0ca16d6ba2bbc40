package dev.heartwood.engine.device;

import dev.heartwood.engine.os.PathCalls;
import java.nio.file.FileSystems;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/**
 * Which paths can be handed to the operating system. It is given their text: that of a path of another file system is of no use there, and
 * that of a name which is none in the charset of the locale stands for another name, the same one for many.
 */
public final class NativePath {
    /** What is decoded where bytes are no text. A path may have it also from elsewhere, such as java.io.File, and leads astray then. */
    private static final char UNDECODED = '\ufffd';

    private NativePath() {}

    /**
     * The absolute path that is meant.
     *
     * @throws InvalidPathException when its text does not lead to it; says why
     */
    public static Path absolute(Path path) {
        if (path.getFileSystem() != FileSystems.getDefault()) {
            throw new InvalidPathException(path.toString(), "A store or copy of one is made in directories of the operating system,"
                    + " not of a file system of kind '" + path.getFileSystem().provider().getScheme() + "'");
        }
        Path absolute = path.toAbsolutePath();
        String text = absolute.toString();
        if (text.indexOf(UNDECODED) >= 0 || !leadsBack(text, absolute)) {
            throw new InvalidPathException(text, "A name is not text in " + PathCalls.charset()
                    + ", the charset of the locale, and might be taken for another; rename it, or choose another locale (LC_ALL)");
        }
        return absolute;
    }

    private static boolean leadsBack(String text, Path path) {
        try {
            return Path.of(text).equals(path);
        } catch (InvalidPathException unwritable) {
            return false;
        }
    }
}
