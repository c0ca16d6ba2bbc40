/** A user's module. */
module consumer {
    requires dev.heartwood;
}
