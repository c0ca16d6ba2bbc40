package dev.heartwood.testkit;

import dev.heartwood.NoSpaceException;
import dev.heartwood.ReadFailedException;
import dev.heartwood.StoreException;
import dev.heartwood.StoreIoException;
import java.util.Locale;

/**
 * The error numbers that faults are made of, as Linux numbers them: those that the manual pages of the engine's system calls list, and
 * those that block devices and file systems hand up. EINTR and EAGAIN are not among them: devices make such a call again.
 */
public enum Errno {
    EPERM(1),
    ENOENT(2),
    EIO(5),
    ENXIO(6),
    EBADF(9),
    ENOMEM(12),
    EACCES(13),
    EFAULT(14),
    EBUSY(16),
    EEXIST(17),
    EXDEV(18),
    ENODEV(19),
    ENOTDIR(20),
    EISDIR(21),
    EINVAL(22),
    ENFILE(23),
    EMFILE(24),
    ENOTTY(25),
    ETXTBSY(26),
    EFBIG(27),
    ENOSPC(28),
    ESPIPE(29),
    EROFS(30),
    EMLINK(31),
    EDEADLK(35),
    ENAMETOOLONG(36),
    ENOLCK(37),
    ENOSYS(38),
    ENOTEMPTY(39),
    ELOOP(40),
    EBADE(52),
    EBADR(53),
    ENODATA(61),
    ETIME(62),
    ENOLINK(67),
    EPROTO(71),
    EBADMSG(74),
    EOVERFLOW(75),
    EBADFD(77),
    EILSEQ(84),
    EDESTADDRREQ(89),
    EOPNOTSUPP(95),
    ENOBUFS(105),
    ESHUTDOWN(108),
    ETIMEDOUT(110),
    ESTALE(116),
    EUCLEAN(117),
    EREMOTEIO(121),
    EDQUOT(122),
    ENOMEDIUM(123),
    ECANCELED(125),
    ENOKEY(126),
    EKEYREJECTED(129),
    EHWPOISON(133);

    private final int number;

    Errno(int number) {
        this.number = number;
    }

    /** The number. */
    public int number() {
        return number;
    }

    /** Whether an exception, or what caused it, says that the operating system answered with this number, or that there is no space for that. */
    public boolean isNamedBy(Throwable failure) {
        boolean isFull = this == ENOSPC || this == EDQUOT || this == EFBIG;
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (isFull && cause instanceof NoSpaceException
                    || cause instanceof StoreIoException io && io.errno() == number && io.errnoName().equals(name())) {
                return true;
            }
        }
        return false;
    }

    /** What a device throws when the operating system answers with this number. */
    StoreException exception(OperationKind kind, String path, long offset) {
        boolean isTooLong = this == EFBIG && (kind == OperationKind.ALLOCATE || kind == OperationKind.MAP);
        if (this == ENOSPC || this == EDQUOT || isTooLong) {
            return new NoSpaceException(kind + " failed with " + name() + " (" + number + ") on " + path);
        }
        String operation = kind.name().toLowerCase(Locale.ROOT);
        return kind == OperationKind.READ || kind == OperationKind.READ_FILE
                ? new ReadFailedException(number, name(), operation, path, offset)
                : new StoreIoException(number, name(), operation, path, offset);
    }
}
