package dev.heartwood.planted;

import java.lang.classfile.CodeTransform;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** The faults that are planted, each with the campaign that has to find it within its short budget. */
enum PlantedFault {
    /** The log is synced without syncing it. */
    LOG_NOT_SYNCED(
            "log.LogSegment",
            List.of("sync"),
            planted -> Edits.dropCalls("MappedFile", "sync", planted),
            "crash.PowerLossTest#syncedWritesSurvivePowerLosses"),
    /** The directory entries of new log segments are not synced. */
    LOG_DIRECTORY_NOT_SYNCED(
            "log.SegmentPool",
            List.of("syncDirectory"),
            planted -> Edits.dropCalls("Storage", "syncDirectory", planted),
            "crash.PowerLossTest#syncedWritesSurvivePowerLosses"),
    /** A checkpoint writes its superblocks without syncing the pages they name. */
    PAGES_NOT_SYNCED(
            "checkpoint.Checkpointer",
            List.of("write"),
            planted -> Edits.dropCalls("BlockDevice", "sync", planted),
            "crash.ExhaustiveCrashTest#everyShortSequenceSurvivesACrashAnywhere"),
    /** The pages are written after the superblocks that name them. */
    SUPERBLOCK_BEFORE_PAGES(
            "checkpoint.Checkpointer",
            List.of("run"),
            planted -> Edits.dropCalls("CachedFile", "writeBackAll", planted)
                    .andThen(Edits.onCalls("Checkpointer", "write", planted, (builder, call) -> builder.with(call)
                            .aload(0)
                            .getfield(Types.CHECKPOINTER, "storage", Types.TREE_STORAGE)
                            .invokevirtual(Types.TREE_STORAGE, "file", MethodTypeDesc.of(Types.CACHED_FILE))
                            .invokevirtual(
                                    Types.CACHED_FILE, "writeBackAll", MethodTypeDesc.of(ConstantDescs.CD_void)))),
            "crash.PowerLossTest#syncedWritesSurvivePowerLosses"),
    /** Both superblocks are written before either is synced. */
    SUPERBLOCKS_TOGETHER(
            "checkpoint.Superblocks",
            List.of("write"),
            planted -> Edits.dropCall(1, "BlockDevice", "sync", planted),
            "crash.ExhaustiveCrashTest#everyShortSequenceSurvivesACrashAnywhere"),
    /** The log is let go of one generation too far. */
    LOG_RELEASED_TOO_FAR(
            "checkpoint.Checkpointer",
            List.of("run"),
            planted -> Edits.onCalls("WriteAheadLog", "release", planted, (builder, call) ->
                    builder.lconst_1().ladd().with(call)),
            "crash.PowerLossTest#bufferedWritesSurviveKills"),
    /** The extents that the superblocks reach may be used again before the next checkpoint. */
    EXTENT_REUSED_TOO_EARLY(
            "checkpoint.Checkpointer",
            List.of("<init>", "run"),
            planted -> Edits.dropCall(3, "TrunkVersion", "release", planted)
                    .andThen(Edits.callBeforeWrite("pinned", "release", "()V", planted)),
            "crash.PowerLossTest#theSpaceOfACheckpointIsNotUsedAgainBeforeTheNext"),
    /** One extent in 16 is never free again before the store is opened the next time. */
    EXTENT_LEAKED(
            "node.TreeStorage",
            List.of("free"),
            planted -> Edits.atStart(planted, code -> code.iload(1)
                    .bipush(15)
                    .iand()
                    .ifThen(java.lang.classfile.Opcode.IFEQ, then -> then.return_())),
            "differential.EngineDifferentialTest#onAMachineThatCrashesStepByStep"),
    /** Replay goes on behind a gap in the log. */
    LOG_GAP_ACCEPTED(
            "log.LsnGaps",
            List.of("reach"),
            planted -> Edits.dropWrites(List.of("count", "first"), planted),
            "crash.ExhaustiveCrashTest#everyShortSequenceSurvivesACrashAnywhere"),
    /** Records of the log are believed whatever their checksum says. */
    LOG_CHECKSUM_IGNORED(
            "log.LogRecord",
            List.of("isIntact"),
            planted -> Edits.atStart(planted, code -> code.iconst_1().ireturn()),
            "crash.PowerLossTest#mixedLevelsSurvivePowerLossesAsPromised"),
    /** One key in 64 is left out of the filters. */
    FILTER_FORGETS_A_KEY(
            "filter.FingerprintBuffer",
            List.of("add"),
            planted -> Edits.atStart(planted, code -> code.lload(1)
                    .bipush(58)
                    .lushr()
                    .lconst_1()
                    .lcmp()
                    .ifThen(java.lang.classfile.Opcode.IFEQ, then -> then.return_())),
            "differential.EngineDifferentialTest#onAMachineThatCrashes"),
    /** The record cache keeps what a packed memtable has made old. */
    RECORD_NOT_FORGOTTEN(
            "record.RecordCache",
            List.of("forget"),
            planted -> Edits.atStart(planted, code -> code.return_()),
            "differential.EngineDifferentialTest#onAMachineThatCrashes"),
    /** A snapshot does not hold the version of the tree that it reads. */
    SNAPSHOT_HOLDS_NOTHING(
            "read.ViewSources",
            List.of("pin"),
            planted -> Edits.dropCalls("TrunkVersion", "retain", planted),
            "differential.EngineDifferentialTest#onAMachineThatCrashes"),
    /** Pages that come from the device are believed. */
    PAGES_NOT_VERIFIED(
            "page.PageSeal",
            List.of("verify"),
            planted -> Edits.atStart(planted, code -> code.return_()),
            "crash.RotTest#aFlippedByteIsNeverAWrongValue"),
    /** A page of another time is believed, where its place is right. */
    GENERATION_IGNORED(
            "page.PageSeal",
            List.of("verify"),
            planted -> Edits.dropCall(3, "PageSeal", "expect", planted),
            "crash.LyingDeviceTest#noLostWriteIsBelieved"),
    /** A page that belongs to another place is believed. */
    ADDRESS_IGNORED(
            "page.PageSeal",
            List.of("verify"),
            planted -> Edits.dropCall(2, "PageSeal", "expect", planted),
            "crash.LyingDeviceTest#noMisdirectedReadIsBelieved"),
    /** A store goes on writing after a failed write of its data file. */
    FAILURE_NOT_LATCHED(
            "background.FailStop",
            List.of("fail"),
            planted -> Edits.atStart(planted, code -> code.return_()),
            "crash.WriteBackFailureTest#theNextWriteIsRefused"),
    /** A log goes on after a failed sync. */
    LOG_FAILURE_NOT_LATCHED(
            "log.GroupCommit",
            List.of("fail"),
            planted -> Edits.atStart(planted, code -> code.return_()),
            "crash.FailingDeviceTest#afterAFailedSyncNothingIsWrittenUntilReopened");

    private static final class Types {
        static final ClassDesc CHECKPOINTER = ClassDesc.of("dev.heartwood.engine.checkpoint.Checkpointer");
        static final ClassDesc TREE_STORAGE = ClassDesc.of("dev.heartwood.engine.node.TreeStorage");
        static final ClassDesc CACHED_FILE = ClassDesc.of("dev.heartwood.engine.cache.CachedFile");
    }

    private final List<String> classNames;
    private final List<String> methods;
    private final Function<Runnable, CodeTransform> edit;
    private final String campaign;

    PlantedFault(String classNames, List<String> methods, Function<Runnable, CodeTransform> edit, String campaign) {
        this.classNames = Arrays.stream(classNames.split(" "))
                .map(name -> "dev.heartwood.engine." + name)
                .toList();
        this.methods = methods;
        this.edit = edit;
        this.campaign = campaign;
    }

    /** The classes that are changed. */
    List<String> classNames() {
        return classNames;
    }

    /** The methods that are changed. */
    List<String> methods() {
        return methods;
    }

    /** The change. */
    CodeTransform edit(Runnable planted) {
        return edit.apply(planted);
    }

    /** The class of the campaign that finds the fault. */
    String campaignClass() {
        return "dev.heartwood." + campaign.substring(0, campaign.indexOf('#'));
    }

    /** The method of that class. */
    String campaignMethod() {
        return campaign.substring(campaign.indexOf('#') + 1);
    }
}
