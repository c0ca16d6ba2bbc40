package dev.heartwood.kafka;

/** Which way an iterator goes. */
enum Direction {
    FORWARD,
    BACKWARD
}
