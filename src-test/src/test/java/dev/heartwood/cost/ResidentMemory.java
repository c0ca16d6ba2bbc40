package dev.heartwood.cost;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.JMException;
import javax.management.ObjectName;

/**
 * What of this process is resident, and how much of that is the JVM's by its own account, which takes {@code
 * -XX:NativeMemoryTracking=summary}. In bytes.
 *
 * @param residentBytes all of it, mapped files included
 * @param heapBytes committed for the Java heap
 * @param jvmBytes committed for everything else that the JVM needs: code, metadata, threads, collector
 */
record ResidentMemory(long residentBytes, long heapBytes, long jvmBytes) {
    private static final Pattern TOTAL = Pattern.compile("Total: reserved=\\d+KB, committed=(\\d+)KB");
    private static final Pattern HEAP = Pattern.compile("Java Heap \\(reserved=\\d+KB, committed=(\\d+)KB\\)");

    /** As it is now. */
    static ResidentMemory now() throws IOException, JMException {
        String said = (String) ManagementFactory.getPlatformMBeanServer()
                .invoke(
                        new ObjectName("com.sun.management:type=DiagnosticCommand"),
                        "vmNativeMemory",
                        new Object[] {new String[] {"summary"}},
                        new String[] {String[].class.getName()});
        long heap = kibibytes(HEAP, said);
        return new ResidentMemory(status("VmRSS:"), heap, kibibytes(TOTAL, said) - heap);
    }

    /** The most that was resident so far, in bytes. */
    static long most() throws IOException {
        return status("VmHWM:");
    }

    /** What the JVM does not account for: the engine's memory and its log segments. */
    long engineBytes() {
        return residentBytes - heapBytes - jvmBytes;
    }

    private static long kibibytes(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        if (!matcher.find()) {
            throw new IllegalStateException("native memory is not tracked: " + text);
        }
        return Long.parseLong(matcher.group(1)) << 10;
    }

    private static long status(String name) throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith(name)) {
                return Long.parseLong(line.replaceAll("\\D", "")) << 10;
            }
        }
        throw new IOException("no " + name + " in /proc/self/status");
    }
}
