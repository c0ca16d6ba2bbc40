package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import dev.heartwood.testkit.JavaProcess;
import dev.heartwood.testkit.JavaProcess.Ended;
import dev.heartwood.testkit.TestDirectory;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A class that finds the Java heap full at its first use is lost to the process: all are initialized before there is a store. */
class ClassInitializationTest {
    private static final String API = "dev.heartwood";
    private static final String ENGINE = "dev.heartwood.engine.";

    /** Of the commands that end when the heap is full. */
    private static final Pattern OF_COMMANDS = Pattern.compile("dev\\.heartwood\\.engine\\.(salvage|inspect)\\..*");

    /** Initialized by what opens the first environment, or by the opening of a store: they ask the kernel, or bind what may be missing. */
    private static final Set<String> WHEN_OPENING = Set.of(
            "dev.heartwood.Heartwood$Provider",
            "dev.heartwood.engine.device.DeviceBinding$Jnr",
            "dev.heartwood.engine.device.DeviceBinding$Probe",
            "dev.heartwood.engine.device.JnrCalls");

    /** What the Java library uses behind records, switches over types and comparisons of buffers. */
    private static final List<String> OF_THE_LIBRARY =
            List.of("java.lang.runtime.ObjectMethods", "java.lang.runtime.SwitchBootstraps", "java.nio.BufferMismatch");

    @Test
    void theFirstEnvironmentInitializesAllClasses() throws IOException {
        Set<String> missing = new TreeSet<>(OF_THE_LIBRARY);
        classes()
                .filter(each -> each.getStaticInitializer().isPresent())
                .map(JavaClass::getName)
                .filter(name -> !OF_COMMANDS.matcher(name).matches())
                .forEach(missing::add);
        missing.removeAll(WHEN_OPENING);
        missing.removeAll(initializedByAnEnvironment());
        assertEquals(Set.of(), missing);
    }

    /** The call that puts a text together would be linked at its first use, and fail ever after when the heap is full then. */
    @Test
    void noTextIsPutTogetherByALinkedCall() throws IOException {
        List<String> linked = new ArrayList<>();
        for (JavaClass each : (Iterable<JavaClass>) classes()::iterator) {
            try (InputStream bytes = each.getSource().orElseThrow().getUri().toURL().openStream()) {
                if (new String(bytes.readAllBytes(), StandardCharsets.ISO_8859_1).contains("StringConcatFactory")) {
                    linked.add(each.getName());
                }
            }
        }
        assertEquals(List.of(), linked);
    }

    private static Stream<JavaClass> classes() {
        return new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages(API).stream()
                        .filter(each -> each.getPackageName().equals(API) || each.getName().startsWith(ENGINE));
    }

    private static List<String> initializedByAnEnvironment() throws IOException {
        try (TestDirectory directory = new TestDirectory("classes")) {
            Path log = directory.path().resolve("log");
            Ended ended = JavaProcess.of(FirstEnvironment.class)
                    .flags("-Xmx32m", "-XX:+UseSerialGC", "-Xlog:class+init=info:file=" + log)
                    .run(directory.path().resolve("output"));
            assertEquals(0, ended.exit(), ended::output);
            return Pattern.compile("Initializing '([^']+)'")
                    .matcher(Files.readString(log))
                    .results()
                    .map(ClassInitializationTest::name)
                    .toList();
        }
    }

    private static String name(MatchResult found) {
        return found.group(1).replace('/', '.');
    }
}
