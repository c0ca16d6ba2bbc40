package dev.heartwood.engine.base;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class SpanTest {
    @Test
    void wordsNameTheBoundsThereAre() {
        byte[] from = {'a'};
        byte[] to = {'b'};
        assertEquals("all keys", Span.ALL.words());
        assertEquals("all keys", new Span(new byte[0], null).words());
        assertEquals("keys [" + Keys.text(from) + ", " + Keys.text(to) + ")", new Span(from, to).words());
        assertEquals("keys [" + Keys.text(from) + ", )", new Span(from, null).words());
        assertEquals("keys [, " + Keys.text(to) + ")", new Span(null, to).words());
    }
}
