package dev.heartwood.kafka;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.heartwood.Cursor;
import dev.heartwood.InsufficientMemoryException;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.function.Supplier;
import org.apache.kafka.streams.errors.ProcessorStateException;
import org.junit.jupiter.api.Test;

/** What an iterator says once a move of its cursor has failed, which leaves that nowhere. */
class TableIteratorTest {
    private static final InsufficientMemoryException FAILURE = new InsufficientMemoryException("no memory for this move");

    private static TableIterator<byte[]> iterator(Supplier<Cursor> opening) {
        return new TableIterator<>("s", opening) {
            @Override
            boolean advance(Cursor cursor) {
                return cursor.next();
            }

            @Override
            byte[] key(byte[] tableKey) {
                return tableKey;
            }
        };
    }

    /** A cursor whose moves end in what is given, one after the other. */
    private static Cursor cursor(Object... moves) {
        Queue<Object> left = new ArrayDeque<>(List.of(moves));
        InvocationHandler handler = (proxy, method, arguments) -> {
            if (!method.getName().equals("next")) {
                return null;
            }
            if (left.remove() instanceof RuntimeException failure) {
                throw failure;
            }
            return false;
        };
        return (Cursor) Proxy.newProxyInstance(Cursor.class.getClassLoader(), new Class<?>[] {Cursor.class}, handler);
    }

    @Test
    void aFailureIsToldAgainAndTheCursorIsNotMovedOn() {
        TableIterator<byte[]> iterator = iterator(() -> cursor(FAILURE, new IllegalStateException("moved from nowhere")));
        ProcessorStateException first = assertThrows(ProcessorStateException.class, iterator::hasNext);
        assertSame(FAILURE, first.getCause());
        assertSame(first, assertThrows(ProcessorStateException.class, iterator::hasNext));
        assertSame(first, assertThrows(ProcessorStateException.class, iterator::next));
        iterator.close();
    }

    @Test
    void aCursorThatCouldNotBeOpenedIsOpenedLater() {
        Queue<Object> openings = new ArrayDeque<>(List.of(FAILURE, cursor(false)));
        TableIterator<byte[]> iterator = iterator(() -> {
            if (openings.remove() instanceof Cursor cursor) {
                return cursor;
            }
            throw FAILURE;
        });
        assertThrows(ProcessorStateException.class, iterator::hasNext);
        assertFalse(iterator.hasNext());
        iterator.close();
    }
}
