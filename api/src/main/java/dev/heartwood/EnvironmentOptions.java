package dev.heartwood;

import java.util.Objects;

/** Immutable options of an {@link Environment}. Thread-safe. */
public final class EnvironmentOptions {
    /** The least memory an environment works with. */
    public static final ByteSize MEMORY_MIN = ByteSize.mib(16);

    private final ByteSize memory;
    private final int workers;
    private final DeviceKind device;

    private EnvironmentOptions(Builder builder) {
        memory = builder.memory;
        workers = builder.workers;
        device = builder.device;
    }

    /** A builder that holds the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * The budget for memtables, page and record cache, filters, buffers and mapped log segments together, outside of the Java heap. Default 256
     * MiB, at least 16 MiB. It is taken from the system as it is used.
     */
    public ByteSize memory() {
        return memory;
    }

    /** Background threads that pack, merge and write back. Default: the number of processors, 1 to 64. */
    public int workers() {
        return workers;
    }

    /** How the device is driven. Default {@link DeviceKind#AUTO}. */
    public DeviceKind device() {
        return device;
    }

    @Override
    public String toString() {
        return "memory=" + memory + " workers=" + workers + " device=" + device;
    }

    /** Collects options; not thread-safe. */
    public static final class Builder {
        private ByteSize memory = ByteSize.mib(256);
        private int workers = Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 64);
        private DeviceKind device = DeviceKind.AUTO;

        private Builder() {}

        /** See {@link EnvironmentOptions#memory()}. */
        public Builder memory(ByteSize memory) {
            if (memory.bytes() < MEMORY_MIN.bytes()) {
                throw new IllegalArgumentException("memory " + memory + " is below the least of " + MEMORY_MIN);
            }
            this.memory = memory;
            return this;
        }

        /** See {@link EnvironmentOptions#workers()}. */
        public Builder workers(int workers) {
            if (workers < 1 || workers > 64) {
                throw new IllegalArgumentException("workers " + workers + " is not within 1..64");
            }
            this.workers = workers;
            return this;
        }

        /** See {@link EnvironmentOptions#device()}. */
        public Builder device(DeviceKind device) {
            this.device = Objects.requireNonNull(device, "device");
            return this;
        }

        /** The options as they stand. */
        public EnvironmentOptions build() {
            return new EnvironmentOptions(this);
        }
    }
}
