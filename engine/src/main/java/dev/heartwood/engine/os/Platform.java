package dev.heartwood.engine.os;

import java.lang.foreign.MemorySegment;

/** What differs between the two machines that Heartwood runs on: some open flags and system call numbers of Linux. */
public enum Platform {
    X86_64(0x4000, 0x10000, 217, 332, 206, 207, 208, 209),
    AARCH64(0x10000, 0x4000, 61, 291, 0, 1, 4, 2);

    /** That of this process, or null; whoever needs it is told why, and not who happens to load this class. */
    private static final Platform CURRENT = find(System.getProperty("os.name"), System.getProperty("os.arch"));

    /** Mapped files are made durable, and let go of, in pages of a store. */
    private static final int PAGE_BYTES = 4096;

    final int openDirect;
    final int openDirectory;
    final int callGetdents64;
    final int callStatx;
    final int callIoSetup;
    final int callIoDestroy;
    final int callIoGetEvents;
    final int callIoSubmit;

    Platform(
            int openDirect,
            int openDirectory,
            int callGetdents64,
            int callStatx,
            int callIoSetup,
            int callIoDestroy,
            int callIoGetEvents,
            int callIoSubmit) {
        this.openDirect = openDirect;
        this.openDirectory = openDirectory;
        this.callGetdents64 = callGetdents64;
        this.callStatx = callStatx;
        this.callIoSetup = callIoSetup;
        this.callIoDestroy = callIoDestroy;
        this.callIoGetEvents = callIoGetEvents;
        this.callIoSubmit = callIoSubmit;
    }

    /**
     * Refuses this process where Heartwood does not run, before anything else of this package is used.
     *
     * @throws UnsupportedOperationException on anything but Linux on x86-64 or AArch64 with memory pages of 4096 bytes, and where the
     *     JVM denies native access
     */
    public static void require() {
        current();
        requireNativeAccess();
        int pageBytes = NativeMemory.pageBytes();
        if (pageBytes != PAGE_BYTES) {
            throw new UnsupportedOperationException(
                    "Heartwood runs where memory has pages of " + PAGE_BYTES + " bytes, and here they have " + pageBytes);
        }
    }

    /*
     * By a restricted call, since Module.isNativeAccessEnabled is false as well where the JVM only warns of the first one. The classes
     * that hold native functions would fail while they are initialized, and could not say a second time why.
     */
    @SuppressWarnings("restricted")
    private static void requireNativeAccess() {
        try {
            MemorySegment.NULL.reinterpret(0);
        } catch (IllegalCallerException e) {
            Module module = Platform.class.getModule();
            throw new UnsupportedOperationException(
                    "Heartwood calls the C library, and this JVM denies it native access: start it with --enable-native-access="
                            + (module.isNamed() ? module.getName() : "ALL-UNNAMED"),
                    e);
        }
    }

    /** The machine of this process; refused as {@link #require} says. */
    static Platform current() {
        return CURRENT == null ? of(System.getProperty("os.name"), System.getProperty("os.arch")) : CURRENT;
    }

    /** The machine with these names of the JDK's; refused as {@link #require} says. */
    static Platform of(String system, String machine) {
        Platform found = find(system, machine);
        if (found == null) {
            throw new UnsupportedOperationException(
                    "Heartwood runs on Linux on x86-64 and AArch64, not on " + system + " on " + machine);
        }
        return found;
    }

    private static Platform find(String system, String machine) {
        if (!system.equals("Linux")) {
            return null;
        }
        return switch (machine) {
            case "amd64", "x86_64" -> X86_64;
            case "aarch64", "arm64" -> AARCH64;
            default -> null;
        };
    }
}
