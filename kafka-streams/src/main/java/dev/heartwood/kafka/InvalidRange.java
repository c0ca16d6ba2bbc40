package dev.heartwood.kafka;

/** What is logged about a range whose lower bound lies after its upper bound; the text is what Kafka Streams' own stores log. */
final class InvalidRange {
    static final String WARNING = "Returning empty iterator for fetch with invalid key range: from > to. "
            + "This may be due to range arguments set in the wrong order, "
            + "or serdes that don't preserve ordering when lexicographically comparing the serialized bytes. "
            + "Note that the built-in numerical serdes do not follow this for negative numbers";

    private InvalidRange() {}
}
