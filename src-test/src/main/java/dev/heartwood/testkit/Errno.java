package dev.heartwood.testkit;

import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import java.util.Locale;

/** The error numbers that faults are made of, as Linux numbers them. */
public enum Errno {
    EIO(5),
    ENOMEM(12),
    EACCES(13),
    ENFILE(23),
    EMFILE(24),
    EFBIG(27),
    ENOSPC(28),
    EROFS(30),
    EDQUOT(122);

    private final int number;

    Errno(int number) {
        this.number = number;
    }

    /** The number. */
    public int number() {
        return number;
    }

    /** What a device throws when the operating system answers with this number. */
    StoreException exception(OperationKind kind, String path, long offset) {
        if (this == ENOSPC || this == EDQUOT) {
            return new NoSpaceException(kind + " failed with " + name() + " (" + number + ") on " + path);
        }
        String operation = kind.name().toLowerCase(Locale.ROOT);
        return kind == OperationKind.READ || kind == OperationKind.READ_FILE
                ? new ReadFailedException(number, name(), operation, path, offset)
                : new StoreIoException(number, name(), operation, path, offset);
    }
}
