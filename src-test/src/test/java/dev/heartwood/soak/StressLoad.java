package dev.heartwood.soak;

import dev.heartwood.ByteSize;
import dev.heartwood.DeviceKind;
import dev.heartwood.Environment;
import dev.heartwood.EnvironmentOptions;
import dev.heartwood.Heartwood;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The process in which several stores live in one environment, each as {@link StressStore} says, until it is killed or its time is over. What
 * goes wrong ends it.
 */
final class StressLoad {
    /** What a step of a thread may throw. */
    @FunctionalInterface
    interface Step {
        /** Does it. */
        void run() throws Exception;
    }

    private static final DeviceKind[] DEVICES = {DeviceKind.AUTO, DeviceKind.AUTO, DeviceKind.AIO, DeviceKind.POSIX};
    private static final int FAILED_EXIT = 3;

    private StressLoad() {}

    /** Does a step, and ends the process if that throws. */
    static void orFail(String whose, Step step) {
        try {
            step.run();
        } catch (Throwable failure) {
            System.out.println(whose);
            failure.printStackTrace(System.out);
            Runtime.getRuntime().halt(FAILED_EXIT);
        }
    }

    /** Arguments: the directory that has all stores, the seed, the number of this life, and how many milliseconds it has. */
    public static void main(String[] args) {
        orFail("main", () -> run(Path.of(args[0]), Long.parseLong(args[1]), Integer.parseInt(args[2]), Long.parseLong(args[3])));
    }

    private static void run(Path parent, long seed, int life, long millis) throws InterruptedException {
        StressShape[] shapes = StressShape.of(parent, seed);
        SplittableRandom random = new SplittableRandom(seed * 1_000 + life);
        EnvironmentOptions options = EnvironmentOptions.builder()
                .memory(ByteSize.mib(16 + random.nextInt(48) + 2 * shapes.length))
                .workers(1 + random.nextInt(4))
                .device(DEVICES[random.nextInt(DEVICES.length)])
                .build();
        StressReport report = new StressReport();
        long end = System.nanoTime() + millis * 1_000_000;
        try (Environment environment = Heartwood.openEnvironment(options)) {
            List<Thread> keepers = new ArrayList<>();
            for (StressShape shape : shapes) {
                StressStore store = new StressStore(shape, random.split(), report);
                keepers.add(Thread.ofPlatform()
                        .start(() -> orFail(shape.toString(), () -> store.run(environment, () -> System.nanoTime() - end >= 0))));
            }
            for (Thread keeper : keepers) {
                keeper.join();
            }
        }
        System.out.println(report);
    }
}
