package dev.heartwood.engine.os;

/** The error numbers of Linux, which are the same on x86-64 and AArch64, and their names. */
public final class Errno {
    public static final int EPERM = 1;
    public static final int ENOENT = 2;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int ENXIO = 6;
    public static final int EBADF = 9;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EFAULT = 14;
    public static final int EBUSY = 16;
    public static final int EEXIST = 17;
    public static final int ENODEV = 19;
    public static final int ENOTDIR = 20;
    public static final int EISDIR = 21;
    public static final int EINVAL = 22;
    public static final int ENFILE = 23;
    public static final int EMFILE = 24;
    public static final int ENOTTY = 25;
    public static final int EFBIG = 27;
    public static final int ENOSPC = 28;
    public static final int EROFS = 30;
    public static final int ENAMETOOLONG = 36;
    public static final int ENOSYS = 38;
    public static final int ELOOP = 40;
    public static final int ETIME = 62;
    public static final int EOPNOTSUPP = 95;
    public static final int ETIMEDOUT = 110;
    public static final int ESTALE = 116;
    public static final int EDQUOT = 122;
    public static final int ECANCELED = 125;

    /* By number, from 1. The names come from the kernel's uapi/asm-generic/errno-base.h and errno.h. */
    private static final String[] NAMES =
            """
            EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF ECHILD
            EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV ENODEV ENOTDIR
            EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE EROFS
            EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY ELOOP
            """
                    .split("\\s+");

    private Errno() {}

    /** The symbolic name, such as EIO; {@code E} and the number for one that no file operation is known to return. */
    public static String name(int errno) {
        if (errno >= 1 && errno <= NAMES.length) {
            return NAMES[errno - 1];
        }
        return switch (errno) {
            case 52 -> "EBADE";
            case 53 -> "EBADR";
            case 61 -> "ENODATA";
            case ETIME -> "ETIME";
            case 67 -> "ENOLINK";
            case 71 -> "EPROTO";
            case 74 -> "EBADMSG";
            case 75 -> "EOVERFLOW";
            case 77 -> "EBADFD";
            case 84 -> "EILSEQ";
            case 89 -> "EDESTADDRREQ";
            case EOPNOTSUPP -> "EOPNOTSUPP";
            case 105 -> "ENOBUFS";
            case 108 -> "ESHUTDOWN";
            case ETIMEDOUT -> "ETIMEDOUT";
            case 115 -> "EINPROGRESS";
            case ESTALE -> "ESTALE";
            case 117 -> "EUCLEAN";
            case 121 -> "EREMOTEIO";
            case EDQUOT -> "EDQUOT";
            case 123 -> "ENOMEDIUM";
            case ECANCELED -> "ECANCELED";
            case 126 -> "ENOKEY";
            case 129 -> "EKEYREJECTED";
            case 131 -> "ENOTRECOVERABLE";
            case 133 -> "EHWPOISON";
            default -> "E" + errno;
        };
    }
}
