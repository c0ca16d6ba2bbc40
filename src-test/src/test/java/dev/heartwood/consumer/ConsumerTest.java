package dev.heartwood.consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Heartwood;
import dev.heartwood.engine.os.Memory;
import dev.heartwood.testkit.TestDirectory;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.spi.ToolProvider;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Installs the jars of this build into a repository of its own, builds a project against it with Maven, and runs its program
 * on the class path and the module path, with the flag for native access and without.
 */
class ConsumerTest {
    private static final String HELLO = "hello from the store";

    private record Outcome(int exit, String text) {}

    private final TestDirectory directory = new TestDirectory("consumer");
    private final Path project = directory.path().resolve("project");
    private final Path installed = directory.path().resolve("installed");
    private final String version = System.getProperty("heartwood.version");

    @BeforeEach
    void installAndCopyTheProject() throws Exception {
        Path checkout = Path.of("").toAbsolutePath().getParent();
        install("heartwood-parent", checkout.resolve("pom.xml"), null);
        install("heartwood-api", checkout.resolve("api/pom.xml"), Heartwood.class);
        install("heartwood-engine", checkout.resolve("engine/pom.xml"), Memory.class);
        Path template = Path.of(ConsumerTest.class.getResource("/consumer").toURI());
        try (Stream<Path> files = Files.walk(template)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path to = project.resolve(template.relativize(file).toString());
                Files.createDirectories(to.getParent());
                String text = Files.readString(file).replace("@version@", version).replace("@javac@", tool("javac"));
                Files.writeString(to, text);
            }
        }
    }

    @AfterEach
    void remove() {
        directory.close();
    }

    /** Puts a pom, and the jar in which a class was found, where Maven's own install puts them. */
    private void install(String artifact, Path pom, Class<?> marker) throws IOException, URISyntaxException {
        Path folder = Files.createDirectories(installed.resolve("dev/heartwood").resolve(artifact).resolve(version));
        String name = artifact + "-" + version;
        Files.copy(pom, folder.resolve(name + ".pom"));
        if (marker == null) {
            return;
        }
        Path found = Path.of(marker.getProtectionDomain().getCodeSource().getLocation().toURI());
        Path jar = folder.resolve(name + ".jar");
        if (Files.isRegularFile(found)) {
            Files.copy(found, jar);
        } else {
            ToolProvider.findFirst("jar").orElseThrow().run(System.out, System.err, "cf", jar.toString(), "-C", found.toString(), ".");
        }
    }

    private static String tool(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }

    private Outcome run(Map<String, String> environment, List<String> command) throws IOException, InterruptedException {
        ProcessBuilder builder = new ProcessBuilder(command).directory(project.toFile()).redirectErrorStream(true);
        builder.environment().keySet().removeAll(List.of("MAVEN_OPTS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"));
        builder.environment().putAll(environment);
        Process process = builder.start();
        try (var output = process.inputReader()) {
            String text = String.join("\n", output.lines().toList());
            return new Outcome(process.waitFor(), text);
        }
    }

    /** Compiles with Maven, which finds its plugins in the repository of this build and Heartwood only in the new one. */
    private void build() throws IOException, InterruptedException {
        String plugins = Path.of(System.getProperty("heartwood.maven.repository")).toUri().toString();
        Path settings = Files.writeString(directory.path().resolve("settings.xml"), """
                <settings>
                  <localRepository>%s</localRepository>
                  <mirrors>
                    <mirror><id>plugins</id><mirrorOf>central</mirrorOf><url>%s</url></mirror>
                  </mirrors>
                </settings>
                """.formatted(installed, plugins));
        String maven = Path.of(System.getProperty("heartwood.maven.home"), "bin", "mvn").toString();
        Outcome outcome = run(
                Map.of("JAVA_HOME", System.getProperty("java.home")),
                List.of(maven, "-B", "-q", "-o", "-Daether.offline.protocols=file", "-s", settings.toString(), "compile"));
        assertEquals(0, outcome.exit, outcome.text);
    }

    private Path jar(String artifact) {
        return installed.resolve("dev/heartwood").resolve(artifact).resolve(version).resolve(artifact + "-" + version + ".jar");
    }

    private Outcome runProgram(List<String> flags, boolean onModulePath) throws IOException, InterruptedException {
        String path = String.join(
                File.pathSeparator,
                project.resolve("target/classes").toString(),
                jar("heartwood-api").toString(),
                jar("heartwood-engine").toString());
        List<String> command = new ArrayList<>(List.of(tool("java"), "-Xmx100m"));
        command.addAll(flags);
        command.addAll(onModulePath ? List.of("-p", path, "-m", "consumer/consumer.Main") : List.of("-cp", path, "consumer.Main"));
        command.add(directory.path().resolve("data").toString());
        return run(Map.of(), command);
    }

    @Test
    void aProjectWithOneDependencyBuildsAndRuns() throws Exception {
        build();
        Outcome flagged = runProgram(List.of("--enable-native-access=ALL-UNNAMED"), false);
        assertEquals(new Outcome(0, HELLO), flagged);
        Outcome module = runProgram(List.of("--enable-native-access=dev.heartwood.engine"), true);
        assertEquals(new Outcome(0, HELLO), module);

        Outcome unflagged = runProgram(List.of(), false);
        assertEquals(0, unflagged.exit, unflagged.text);
        assertTrue(unflagged.text.contains(HELLO), unflagged.text);
        assertTrue(unflagged.text.contains("--enable-native-access"), unflagged.text);

        Outcome denied = runProgram(List.of("--illegal-native-access=deny"), false);
        assertNotEquals(0, denied.exit, denied.text);
        assertTrue(denied.text.contains("native access"), denied.text);
        assertFalse(denied.text.contains(HELLO), denied.text);
    }
}
