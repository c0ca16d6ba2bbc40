package dev.heartwood.testkit;

import dev.heartwood.StoreException;
import dev.heartwood.engine.device.IoQueue;
import dev.heartwood.testkit.SimulatedMachine.QueueOrder;
import java.util.ArrayList;
import java.util.List;

/** Queued I/O of a simulated device; completions come in random order, and with most orders so do the effects. */
final class SimulatedQueue implements IoQueue {
    private record Operation(OperationKind kind, long position, long address, int length, long tag) {}

    private record Completion(long tag, StoreException failure) {}

    private final SimulatedMachine machine;
    private final SimulatedDevice device;
    private final int depth;
    private final List<Operation> queued = new ArrayList<>();
    private final List<Operation> submitted = new ArrayList<>();
    private final List<Completion> completed = new ArrayList<>();
    private long failedTag;
    private boolean closed;

    SimulatedQueue(SimulatedMachine machine, SimulatedDevice device, int depth) {
        if (depth < 1 || depth > 256) {
            throw new IllegalArgumentException("depth " + depth + " is not within 1..256");
        }
        this.machine = machine;
        this.device = device;
        this.depth = depth;
    }

    @Override
    public int depth() {
        return depth;
    }

    @Override
    public int pending() {
        return queued.size() + submitted.size() + completed.size();
    }

    @Override
    public void read(long position, long address, int length, long tag) {
        queue(new Operation(OperationKind.READ, position, address, length, tag));
    }

    @Override
    public void write(long position, long address, int length, long tag) {
        queue(new Operation(OperationKind.WRITE, position, address, length, tag));
    }

    private void queue(Operation operation) {
        if (closed || pending() >= depth) {
            throw new IllegalStateException(closed ? "the queue is closed" : "the queue is full");
        }
        queued.add(operation);
    }

    @Override
    public void submit() {
        machine.underWay(queued.size());
        submitted.addAll(queued);
        queued.clear();
        if (machine.locked(machine::queueOrder) == QueueOrder.AT_SUBMIT) {
            submitted.forEach(operation -> completed.add(execute(operation)));
            submitted.clear();
        }
    }

    @Override
    public long await() {
        submit();
        if (pending() == 0) {
            throw new IllegalStateException("nothing is pending");
        }
        int chosen = machine.locked(() -> machine.random().nextInt(pending()));
        Completion completion = chosen < completed.size()
                ? completed.remove(chosen)
                : execute(submitted.remove(chosen - completed.size()));
        machine.underWay(-1);
        if (completion.failure != null) {
            failedTag = completion.tag;
            throw completion.failure;
        }
        return completion.tag;
    }

    private Completion execute(Operation operation) {
        try {
            if (operation.kind == OperationKind.READ) {
                device.read(operation.position, operation.address, operation.length);
            } else {
                device.write(operation.position, operation.address, operation.length);
            }
            return new Completion(operation.tag, null);
        } catch (StoreException failure) {
            return new Completion(operation.tag, failure);
        }
    }

    @Override
    public long failedTag() {
        return failedTag;
    }

    @Override
    public void close() {
        if (!closed) {
            submit();
            machine.underWay(-pending());
            submitted.forEach(this::execute);
            submitted.clear();
            completed.clear();
            closed = true;
        }
    }
}
