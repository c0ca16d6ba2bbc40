package dev.heartwood.testkit;

import java.nio.file.Path;
import java.time.Duration;
import java.util.function.LongConsumer;

/**
 * Runs one randomised case for many seeds. {@code -Dheartwood.seed=N} runs that seed alone; {@code -Dheartwood.budget=PT1H} (an
 * ISO-8601 duration) goes on with further seeds for that long; without either the test's own number of cases is run, the same
 * ones every time. A failure is reported with the one line that reruns it.
 */
public final class Campaign {
    private Campaign() {}

    /**
     * Runs the cases.
     *
     * @param test the test class, to name in the rerun line
     * @param cases how many cases to run without a budget
     * @param randomCase the case, given its seed
     * @return the number of cases run
     */
    public static int run(Class<?> test, int cases, LongConsumer randomCase) {
        Long only = Long.getLong("heartwood.seed");
        if (only != null) {
            runOne(test, only, randomCase);
            return 1;
        }
        String budget = System.getProperty("heartwood.budget");
        long end = budget == null ? 0 : System.nanoTime() + Duration.parse(budget).toNanos();
        int run = 0;
        while (run < cases || budget != null && System.nanoTime() - end < 0) {
            runOne(test, 1 + run, randomCase);
            run++;
        }
        return run;
    }

    /** The size of one case: {@code -Dheartwood.operations=N}, or the test's own. */
    public static int operations(int usual) {
        return Integer.getInteger("heartwood.operations", usual);
    }

    /** Says how many cases a campaign has run, in one line of the log. */
    public static void report(Class<?> test, long cases, String what) {
        System.out.println("campaign: " + test.getSimpleName() + " ran " + cases + " " + what);
    }

    private static void runOne(Class<?> test, long seed, LongConsumer randomCase) {
        try {
            randomCase.accept(seed);
        } catch (Throwable failure) {
            throw new AssertionError(failure.getMessage() + "\nrerun: " + rerunLine(test, seed), failure);
        }
    }

    private static String rerunLine(Class<?> test, long seed) {
        String operations = System.getProperty("heartwood.operations");
        // Tests run in the directory of their module.
        String module = String.valueOf(Path.of("").toAbsolutePath().getFileName());
        return "mvn -B -pl " + module + " -am verify -Dsurefire.failIfNoSpecifiedTests=false -Dtest=" + test.getSimpleName()
                + " -Dheartwood.seed=" + seed + (operations == null ? "" : " -Dheartwood.operations=" + operations);
    }
}
