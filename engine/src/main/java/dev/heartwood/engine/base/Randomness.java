package dev.heartwood.engine.base;

import java.security.SecureRandom;

/** The one source of randomness: for identities, not for secrets. */
@FunctionalInterface
public interface Randomness {
    /** The machine's. */
    Randomness SYSTEM = new SecureRandom()::nextLong;

    /** Any number. */
    long nextLong();
}
