package dev.heartwood.engine.store;

import dev.heartwood.CompactionPolicyKind;
import dev.heartwood.KeyOrder;
import dev.heartwood.KeyRange;
import dev.heartwood.PolicyChange;
import dev.heartwood.PolicyChange.Part;
import dev.heartwood.StoreOptions;
import dev.heartwood.StoreTuning;
import dev.heartwood.engine.auto.AutoPolicy;
import dev.heartwood.engine.auto.Decision;
import dev.heartwood.engine.auto.WorkloadSample;
import dev.heartwood.engine.background.Background;
import dev.heartwood.engine.background.FailStop;
import dev.heartwood.engine.base.Epochs;
import dev.heartwood.engine.base.Span;
import dev.heartwood.engine.budget.IdleMemory;
import dev.heartwood.engine.node.TrunkPolicies;
import dev.heartwood.engine.task.Priority;
import dev.heartwood.engine.task.Timer;
import dev.heartwood.engine.task.Workers;
import dev.heartwood.engine.trunk.TreeGauge;
import dev.heartwood.engine.trunk.Trunk;
import dev.heartwood.engine.trunk.Trunk.Heights;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Holds what a store was tuned to, and, where that leaves it to the store, takes a sample of its counters in each interval and carries out
 * what {@link AutoPolicy} decides. Thread-safe.
 *
 * <p>Under {@code AUTO} nodes are lazy by the policy of the tree, and eager by one of their own, which is in their images and so shown by
 * inspection. Whoever tunes or opens the store takes those away.
 */
final class Tuner {
    /*
     * All fields are guarded by the monitor, which a step holds: it works on metadata only, and nobody who reads or writes the store waits
     * for it. Lock order: the monitor, then the trunk's structure lock, or that of the idle memory.
     */
    private static final long INTERVAL_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final Heights LEAVES = new Heights(0, 0);
    private static final Heights INNER = new Heights(1, Integer.MAX_VALUE);

    /** What the tuner looks at beside the tree. */
    interface Gauges {
        /** The counters of the interval that ends now. */
        WorkloadSample sample();

        /** Begins an interval. */
        void restart();
    }

    private final Trunk trunk;
    private final Epochs epochs;
    private final Background background;
    private final FailStop failStop;
    private final Listening listening;
    private final Gauges gauges;
    private final IdleMemory idleMemory;
    private final Consumer<PolicyChange> told = this::tell;
    private final Timer timer;
    private final long memtableBytes;
    /** Whether a part of the stored keys is no range of the user's. */
    private final boolean isHashed;
    private StoreTuning tuning;
    /** A call that tuned the store has not come to its end. */
    private boolean isHalfDone;

    /** Null unless the store decides by itself. */
    private AutoPolicy auto;
    /** What was decided and is not carried out yet: where that fails, as on a full Java heap, it is done again. */
    private final List<Decision> due = new ArrayList<>();

    private Decision leaves;
    private Decision inner;
    private int height;
    private boolean scheduled;
    private boolean closed;

    Tuner(
            StoreOptions options,
            Trunk trunk,
            Epochs epochs,
            Background background,
            FailStop failStop,
            Workers workers,
            Listening listening,
            Gauges gauges,
            IdleMemory idleMemory,
            long memtableBytes) {
        this.trunk = trunk;
        this.epochs = epochs;
        this.background = background;
        this.failStop = failStop;
        this.listening = listening;
        this.gauges = gauges;
        this.idleMemory = idleMemory;
        this.memtableBytes = memtableBytes;
        this.timer = workers.timer(Priority.CHECKPOINT, this::step);
        this.isHashed = options.keyOrder() == KeyOrder.HASHED;
        this.tuning = StoreTuning.of(options);
    }

    /** Begins; the tree was opened under the options. */
    synchronized void start() {
        begin(tuning);
    }

    /** What the store was tuned to. */
    synchronized StoreTuning tuning() {
        return tuning;
    }

    /** Tunes the store; where it goes on deciding by itself, it keeps what it has decided about nodes. */
    synchronized void tune(StoreTuning wanted) {
        // What failed half way, as on a full Java heap, is done by the next call, also by one that goes back to what was before.
        boolean isAll = isHalfDone;
        isHalfDone = true;
        boolean isOther = isAll || wanted.policy() != tuning.policy();
        boolean isAsked = isOther || wanted.checkpointDistance() != tuning.checkpointDistance();
        if (isAll || wanted.spaceAmplificationTarget() != tuning.spaceAmplificationTarget()) {
            background.tuneSpace(wanted.spaceAmplificationTarget());
        }
        if (isAsked) {
            background.tuneDistance(wanted.checkpointDistance());
        }
        if (isOther) {
            idleMemory.leave(told);
            auto = null;
            due.clear();
            background.rest(null);
            forgetNodes();
            trunk.usePolicy(TrunkPolicies.of(wanted.policy()));
            background.policyChanged();
            begin(wanted);
        } else if (isAsked && auto != null) {
            due.removeIf(decision -> decision.part() == Part.CHECKPOINT_DISTANCE);
            auto.ask(wanted.checkpointDistance());
        }
        tuning = wanted;
        isHalfDone = false;
    }

    /** Takes their own policies from all nodes. */
    private void forgetNodes() {
        leaves = null;
        inner = null;
        trunk.changePolicy(Span.ALL, Heights.ALL, null);
        epochs.reclaim();
    }

    private void begin(StoreTuning wanted) {
        if (wanted.policy() == CompactionPolicyKind.AUTO) {
            auto = new AutoPolicy(wanted.checkpointDistance(), memtableBytes);
            gauges.restart();
            idleMemory.join(told);
            later();
        }
    }

    private void tell(PolicyChange change) {
        listening.tell(listener -> listener.policyChange(change));
    }

    private void later() {
        if (!scheduled && !closed) {
            timer.start(INTERVAL_NANOS);
            scheduled = true;
        }
    }

    private synchronized void step() {
        scheduled = false;
        if (closed || auto == null || failStop.isFailed()) {
            return;
        }
        try {
            idleMemory.goOn();
            TreeGauge tree = trunk.gauge();
            auto.decide(gauges.sample(), tree, due);
            while (!due.isEmpty()) {
                carryOut(due.getFirst());
                due.removeFirst();
            }
            if (tree.height() != height) {
                applyAgain();
                height = tree.height();
            }
            if (auto.isQuietBegun()) {
                background.quiet();
                auto.quietSpent();
            }
            background.rest(auto.resting());
        } finally {
            later();
        }
    }

    private void carryOut(Decision decision) {
        switch (decision.part()) {
            case LEAVES -> {
                leaves = decision;
                apply(decision, LEAVES);
            }
            case INNER_NODES -> {
                inner = decision;
                apply(decision, INNER);
            }
            case CHECKPOINT_DISTANCE -> background.tuneDistance(decision.distance());
        }
        KeyRange range = isHashed ? KeyRange.all() : range(decision.span());
        tell(new PolicyChange(decision.part(), range, decision.from(), decision.to(), decision.reason()));
    }

    private void apply(Decision decision, Heights heights) {
        trunk.changePolicy(Span.ALL, heights, null);
        if (decision.isEager()) {
            trunk.changePolicy(decision.span(), heights, TrunkPolicies.of(decision.eager()));
        }
        epochs.reclaim();
        background.policyChanged();
    }

    /** New roots have no policy of their own. */
    private void applyAgain() {
        if (inner != null && inner.isEager() && trunk.changePolicy(inner.span(), INNER, TrunkPolicies.of(inner.eager()))) {
            epochs.reclaim();
        }
    }

    private static KeyRange range(Span span) {
        if (span.from() == null) {
            return span.to() == null ? KeyRange.all() : KeyRange.before(span.to());
        }
        return span.to() == null ? KeyRange.from(span.from()) : KeyRange.between(span.from(), span.to());
    }

    /** Stops; waits for the step under way. */
    synchronized void close() {
        closed = true;
        idleMemory.leave(told);
    }
}
