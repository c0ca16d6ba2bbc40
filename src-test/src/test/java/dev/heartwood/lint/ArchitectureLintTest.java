package dev.heartwood.lint;

import static com.tngtech.archunit.core.domain.JavaAccess.Predicates.target;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.nameMatching;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.conditions.ArchPredicates.are;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.EvaluationResult;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** The order of the packages, and the calls that belong to one of them alone. */
class ArchitectureLintTest {
    private static final String ENGINE = "dev.heartwood.engine.";

    /** A package imports only packages with a smaller number; packages with the same number are siblings. */
    private static final Map<String, Integer> LAYERS = Map.ofEntries(
            Map.entry("base", 0),
            Map.entry("os", 1),
            Map.entry("task", 2),
            Map.entry("device", 3),
            Map.entry("page", 4),
            Map.entry("cache", 5),
            Map.entry("extent", 6),
            Map.entry("branch", 7),
            Map.entry("filter", 7),
            Map.entry("memtable", 7),
            Map.entry("record", 7),
            Map.entry("log", 7),
            Map.entry("node", 8),
            Map.entry("image", 9),
            Map.entry("trunk", 10),
            Map.entry("merge", 11),
            Map.entry("checkpoint", 11),
            Map.entry("verify", 12),
            Map.entry("backup", 13),
            Map.entry("auto", 14),
            Map.entry("budget", 15),
            Map.entry("call", 15),
            Map.entry("background", 16),
            Map.entry("write", 17),
            Map.entry("read", 18),
            Map.entry("store", 19),
            Map.entry("salvage", 20),
            Map.entry("inspect", 21));

    private static final JavaClasses HEARTWOOD = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("dev.heartwood");

    private static final JavaClasses PLANTED = new ClassFileImporter().importClasses(Planted.class);

    /** Does everything that is banned, to show that the rules can fail. */
    @SuppressWarnings({"unused", "restricted"})
    private static final class Planted {
        Object everything() throws Exception {
            new Thread(() -> {}).start();
            try (java.io.RandomAccessFile file = new java.io.RandomAccessFile("x", "r")) {
                return List.of(
                        Linker.nativeLinker(),
                        MemorySegment.NULL.reinterpret(8),
                        System.nanoTime(),
                        new java.util.Random(),
                        file.getChannel());
            }
        }
    }

    private static String packageOf(JavaClass type) {
        String name = type.getPackageName();
        return name.startsWith(ENGINE) ? name.substring(ENGINE.length()).split("\\.")[0] : "";
    }

    @Test
    void packagesImportOnlyPackagesBelowThem() {
        List<String> violations = new ArrayList<>();
        for (JavaClass type : HEARTWOOD) {
            for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                String from = packageOf(type);
                String to = packageOf(dependency.getTargetClass().getBaseComponentType());
                boolean known = LAYERS.containsKey(from) && LAYERS.containsKey(to);
                if (known && !from.equals(to) && LAYERS.get(to) >= LAYERS.get(from)) {
                    violations.add(dependency.getDescription());
                }
            }
        }
        assertTrue(violations.isEmpty(), () -> "a layer imports only layers below it; pass what is needed in from above,"
                + " through an interface of the lower layer:\n" + String.join("\n", violations));
    }

    @Test
    void everyEnginePackageHasALayer() {
        TreeSet<String> unknown = new TreeSet<>();
        HEARTWOOD.forEach(type -> {
            String name = packageOf(type);
            if (!name.isEmpty() && !LAYERS.containsKey(name)) {
                unknown.add(name);
            }
        });
        assertTrue(unknown.isEmpty(), () -> "give these packages a place in the order of layers: " + unknown);
        assertTrue(HEARTWOOD.containPackage("dev.heartwood.engine.base"), "the engine's classes were not found");
    }

    @Test
    void theApiNeedsTheJdkOnly() {
        classes()
                .that()
                .resideInAnyPackage("dev.heartwood", "dev.heartwood.spi")
                .should()
                .onlyDependOnClassesThat()
                .resideInAnyPackage("java..", "dev.heartwood", "dev.heartwood.spi")
                .because("the api has no dependency; what needs one belongs in the engine")
                .check(HEARTWOOD);
    }

    /** A rule for one kind of call, for every engine class outside one package; {@code ""} for none. */
    private static void confine(String toPackage, String advice, DescribedPredicate<? super JavaAccess<?>> accesses) {
        DescribedPredicate<JavaClass> outside = DescribedPredicate.describe(
                toPackage.isEmpty() ? "are of the engine" : "are of the engine outside " + toPackage,
                type -> type.getPackageName().startsWith(ENGINE) && !packageOf(type).equals(toPackage));
        noClasses()
                .that(outside)
                .should()
                .accessTargetWhere(accesses)
                .because(advice)
                .check(HEARTWOOD);
        ArchRule anywhere = classes().should().accessTargetWhere(accesses);
        EvaluationResult planted = anywhere.evaluate(PLANTED);
        assertFalse(planted.hasViolation(), () -> "the rule does not see the planted call: " + advice);
    }

    private static DescribedPredicate<JavaAccess<?>> callsOf(Class<?> type, String methodPattern) {
        return target(owner(are(DescribedPredicate.<JavaClass>describe(type.getName(), c -> c.isEquivalentTo(type)))))
                .and(target(nameMatching(methodPattern)));
    }

    @Test
    void onlyOsLinksNativeCode() {
        confine("os", "native functions are bound in os; add a method to one of its classes", callsOf(Linker.class, ".*"));
    }

    @Test
    void onlyOsReinterpretsSegments() {
        confine("os", "use os.Memory with an address, or Memory.view for what users see", callsOf(MemorySegment.class, "reinterpret"));
    }

    @Test
    void onlyBaseReadsTheClock() {
        confine(
                "base",
                "use the clock in base, so that a test can set the time",
                callsOf(System.class, "nanoTime|currentTimeMillis").or(callsOf(java.time.Instant.class, "now")));
    }

    @Test
    void onlyBaseMakesRandomNumbers() {
        confine(
                "base",
                "use the seeded randomness in base, so that one seed is one history",
                callsOf(java.util.Random.class, "<init>")
                        .or(callsOf(java.security.SecureRandom.class, "<init>"))
                        .or(callsOf(java.util.SplittableRandom.class, "<init>"))
                        .or(callsOf(java.util.concurrent.ThreadLocalRandom.class, ".*"))
                        .or(callsOf(java.util.UUID.class, "randomUUID"))
                        .or(callsOf(Math.class, "random")));
    }

    @Test
    void onlyTaskStartsThreads() {
        confine(
                "task",
                "submit to task.Workers, so that a test can run the work in one thread",
                callsOf(Thread.class, "<init>|ofPlatform|ofVirtual|startVirtualThread|start")
                        .or(callsOf(java.util.concurrent.Executors.class, ".*"))
                        .or(callsOf(java.util.concurrent.ThreadPoolExecutor.class, "<init>"))
                        .or(callsOf(java.util.concurrent.ForkJoinPool.class, ".*"))
                        .or(callsOf(java.util.concurrent.CompletableFuture.class, ".*Async")));
    }

    @Test
    void nobodyUsesTheFilesOfTheJdk() {
        for (Class<?> banned : List.of(
                java.nio.channels.FileChannel.class,
                java.nio.channels.FileLock.class,
                java.io.RandomAccessFile.class,
                java.io.FileInputStream.class,
                java.io.FileOutputStream.class)) {
            noClasses()
                    .that()
                    .resideInAPackage("dev.heartwood..")
                    .and()
                    .resideOutsideOfPackages("dev.heartwood.ycsb..", "dev.heartwood.bench..", "dev.heartwood.jmh..")
                    .should()
                    .dependOnClassesThat(are(DescribedPredicate.<JavaClass>describe(
                            banned.getName(), c -> c.isEquivalentTo(banned))))
                    .because("an interrupt closes such a file for everyone, and closing one drops locks; use device.Storage")
                    .check(HEARTWOOD);
        }
        ArchRule rule = noClasses().should().dependOnClassesThat(name("java.io.RandomAccessFile"));
        assertThrows(AssertionError.class, () -> rule.check(PLANTED));
    }
}
