package dev.heartwood.testkit;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/** The names in one directory, those that are sure to survive and those that are not yet. Guarded by the machine's lock. */
final class SimulatedDirectory {
    /** A name that came to mean a file, or nothing (null). */
    private record Entry(String name, SimulatedFile file) {}

    private final Map<String, SimulatedFile> synced = new HashMap<>();
    private final TreeMap<String, SimulatedFile> current = new TreeMap<>();
    private final List<Entry> unsynced = new ArrayList<>();
    private boolean made;
    private SimulatedStorage holder;

    boolean made() {
        return made;
    }

    void make() {
        made = true;
    }

    SimulatedStorage holder() {
        return holder;
    }

    void hold(SimulatedStorage storage) {
        holder = storage;
    }

    Set<String> names() {
        return current.keySet();
    }

    SimulatedFile file(String name) {
        return current.get(name);
    }

    SimulatedFile create(String name) {
        SimulatedFile file = new SimulatedFile();
        rename(file, name);
        return file;
    }

    /** Makes the name mean this file. */
    void rename(SimulatedFile file, String name) {
        current.put(name, file);
        unsynced.add(new Entry(name, file));
    }

    void put(String name, SimulatedFile file) {
        current.put(name, file);
        synced.put(name, file);
    }

    void delete(String name) {
        if (current.remove(name) != null) {
            unsynced.add(new Entry(name, null));
        }
    }

    void sync() {
        synced.clear();
        synced.putAll(current);
        unsynced.clear();
    }

    long bytes() {
        return current.values().stream().mapToLong(SimulatedFile::size).sum();
    }

    /** Captures all files that a crash may leave; returns whether any was stored to since it was captured last. */
    boolean capture() {
        Set<SimulatedFile> files = Collections.newSetFromMap(new IdentityHashMap<>());
        files.addAll(current.values());
        files.addAll(synced.values());
        unsynced.forEach(entry -> files.add(entry.file));
        files.remove(null);
        boolean changed = false;
        for (SimulatedFile file : files) {
            changed |= file.capture();
        }
        return changed;
    }

    /** The directory as the next process, or the next start of the machine, finds it, of what was captured. */
    SimulatedDirectory afterCrash(CrashKind kind, RandomGenerator random) {
        SimulatedDirectory after = new SimulatedDirectory();
        after.made = made;
        Map<SimulatedFile, SimulatedFile> copies = new IdentityHashMap<>();
        TreeMap<String, SimulatedFile> names = kind == CrashKind.KILL ? current : namesAfterPowerLoss(random);
        names.forEach((name, file) ->
                after.current.put(name, copies.computeIfAbsent(file, f -> f.afterCrash(kind, random))));
        if (kind == CrashKind.POWER_LOSS) {
            after.synced.putAll(after.current);
            return after;
        }
        // A process that dies changes nothing about what is synced: a later power loss may still undo the entries.
        synced.forEach((name, file) ->
                after.synced.put(name, copies.computeIfAbsent(file, f -> f.afterCrash(kind, random))));
        unsynced.forEach(entry -> after.unsynced.add(new Entry(
                entry.name,
                entry.file == null ? null : copies.computeIfAbsent(entry.file, f -> f.afterCrash(kind, random)))));
        return after;
    }

    /** The directory after a loss of power: fate decides about each unsynced entry, then about each unsynced part of a file. */
    SimulatedDirectory afterPowerLoss(Supplier<SimulatedFile.Fate> fate) {
        TreeMap<String, SimulatedFile> names = new TreeMap<>(synced);
        Set<String> cut = new HashSet<>();
        for (Entry entry : unsynced) {
            if (fate.get() != SimulatedFile.Fate.KEPT || cut.contains(entry.name)) {
                cut.add(entry.name);
            } else if (entry.file == null) {
                names.remove(entry.name);
            } else {
                names.put(entry.name, entry.file);
            }
        }
        SimulatedDirectory after = new SimulatedDirectory();
        after.made = made;
        names.forEach((name, file) -> after.put(name, file.afterPowerLoss(fate)));
        return after;
    }

    /** A hash of everything that a later crash or reader depends on. */
    long fingerprint() {
        long hash = synced.keySet().hashCode() * 31L + unsynced.stream().map(Entry::name).toList().hashCode();
        for (Map.Entry<String, SimulatedFile> entry : current.entrySet()) {
            hash = hash * 31 + entry.getKey().hashCode() * 17L + entry.getValue().fingerprint();
        }
        return hash;
    }

    /** Each name is as it was synced or as any of its later entries made it. */
    private TreeMap<String, SimulatedFile> namesAfterPowerLoss(RandomGenerator random) {
        TreeMap<String, SimulatedFile> names = new TreeMap<>(synced);
        Set<String> cut = new HashSet<>();
        boolean losesEntries = random.nextBoolean();
        for (Entry entry : unsynced) {
            if (cut.contains(entry.name) || losesEntries && random.nextInt(3) == 0) {
                cut.add(entry.name);
            } else if (entry.file == null) {
                names.remove(entry.name);
            } else {
                names.put(entry.name, entry.file);
            }
        }
        return names;
    }
}
