package dev.heartwood.testkit;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.function.Supplier;

/**
 * Threads of which one at a time does something while everyone else waits for it. The engine spreads callers by the numbers of
 * their threads; these have the same low digits in every run.
 */
public final class SteppedCallers implements AutoCloseable {
    private static final int NUMBERS = 1024;

    /** What a call gave: a result, or what it threw. */
    private record Outcome(Object result, Throwable failure) {}

    private static final class Caller {
        private final SynchronousQueue<Supplier<?>> calls = new SynchronousQueue<>();
        private final SynchronousQueue<Outcome> outcomes = new SynchronousQueue<>();

        void loop() {
            try {
                for (Supplier<?> call = calls.take(); call != CLOSE; call = calls.take()) {
                    outcomes.put(outcome(call));
                }
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }

        private static Outcome outcome(Supplier<?> call) {
            try {
                return new Outcome(call.get(), null);
            } catch (Throwable failure) {
                return new Outcome(null, failure);
            }
        }
    }

    private static final Supplier<?> CLOSE = () -> null;

    private final List<Caller> callers = new ArrayList<>();

    /** Starts so many callers. */
    public SteppedCallers(int count) {
        for (int i = 0; i < count; i++) {
            Caller caller = new Caller();
            Thread thread;
            do {
                thread = Thread.ofPlatform().name("caller-" + i).daemon().unstarted(caller::loop);
            } while (thread.threadId() % NUMBERS != i);
            thread.start();
            callers.add(caller);
        }
    }

    /** How many there are. */
    public int count() {
        return callers.size();
    }

    /** Has a caller do something, and waits for it; what it throws is thrown. */
    @SuppressWarnings("unchecked")
    public <T> T call(int caller, Supplier<T> call) {
        Outcome outcome;
        try {
            callers.get(caller).calls.put(call);
            outcome = callers.get(caller).outcomes.take();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        switch (outcome.failure) {
            case null -> {
                return (T) outcome.result;
            }
            case RuntimeException failure -> throw failure;
            case Error failure -> throw failure;
            case Throwable failure -> throw new AssertionError(failure);
        }
    }

    @Override
    public void close() {
        try {
            for (Caller caller : callers) {
                caller.calls.put(CLOSE);
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
