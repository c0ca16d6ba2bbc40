package dev.heartwood.engine.os;

/** What differs between the two machines that Heartwood runs on: some open flags and system call numbers of Linux. */
enum Platform {
    X86_64(0x4000, 0x10000, 217, 332),
    AARCH64(0x10000, 0x4000, 61, 291);

    private static final Platform CURRENT = of(System.getProperty("os.name"), System.getProperty("os.arch"));

    final int openDirect;
    final int openDirectory;
    final int callGetdents64;
    final int callStatx;

    Platform(int openDirect, int openDirectory, int callGetdents64, int callStatx) {
        this.openDirect = openDirect;
        this.openDirectory = openDirectory;
        this.callGetdents64 = callGetdents64;
        this.callStatx = callStatx;
    }

    /** The machine of this process. */
    static Platform current() {
        return CURRENT;
    }

    static Platform of(String system, String machine) {
        if (system.equals("Linux")) {
            switch (machine) {
                case "amd64", "x86_64" -> {
                    return X86_64;
                }
                case "aarch64", "arm64" -> {
                    return AARCH64;
                }
                default -> {}
            }
        }
        throw new UnsupportedOperationException(
                "Heartwood runs on Linux on x86-64 and AArch64, not on " + system + " on " + machine);
    }
}
