package dev.heartwood.testkit;

import dev.heartwood.LockedException;
import dev.heartwood.StoreIoException;
import dev.heartwood.engine.device.BlockDevice;
import dev.heartwood.engine.device.MappedFile;
import dev.heartwood.engine.device.Storage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** One open of a directory of a {@link SimulatedMachine}. Thread-safe. */
public final class SimulatedStorage implements Storage {
    private static final int ENOENT = 2;
    private static final int EEXIST = 17;

    private final SimulatedMachine machine;
    private final Path path;
    private final SimulatedDirectory directory;

    SimulatedStorage(SimulatedMachine machine, Path path, SimulatedDirectory directory) {
        this.machine = machine;
        this.path = path;
        this.directory = directory;
    }

    @Override
    public Path directory() {
        return path;
    }

    @Override
    public String bootId() {
        return machine.bootId();
    }

    @Override
    public void lock() {
        machine.locked(() -> {
            begin(OperationKind.LOCK, "");
            if (directory.holder() != null) {
                throw new LockedException(path.toString(), ProcessHandle.current().pid());
            }
            directory.make();
            directory.hold(this);
            return null;
        });
    }

    @Override
    public List<String> list() {
        return machine.locked(() -> {
            begin(OperationKind.LIST, "");
            return List.copyOf(new ArrayList<>(directory.names()));
        });
    }

    @Override
    public boolean exists(String name) {
        return machine.locked(() -> directory.file(name) != null);
    }

    @Override
    public long size(String name) {
        return machine.locked(() -> existing(name).size());
    }

    @Override
    public byte[] readFile(String name, int lengthMax) {
        return machine.locked(() -> {
            begin(OperationKind.READ_FILE, name);
            return existing(name).bytes(lengthMax);
        });
    }

    @Override
    public void writeFile(String name, byte[] contents) {
        machine.locked(() -> {
            begin(OperationKind.WRITE_FILE, name);
            // A new file takes the name of the old one in one step, which the directory's sync makes durable.
            SimulatedFile old = directory.file(name);
            machine.reserve(contents.length - (old == null ? 0 : old.size()), name);
            SimulatedFile file = new SimulatedFile();
            file.replace(contents);
            syncAs(OperationKind.SYNC, file, name);
            directory.rename(file, name);
            begin(OperationKind.SYNC_DIRECTORY, name);
            directory.sync();
            return null;
        });
    }

    @Override
    public BlockDevice openDevice(String name, boolean create) {
        return machine.locked(() -> {
            if (create) {
                begin(OperationKind.CREATE, name);
                if (directory.file(name) != null) {
                    throw new StoreIoException(EEXIST, "EEXIST", "open", pathOf(name), -1);
                }
                directory.create(name);
                begin(OperationKind.SYNC_DIRECTORY, name);
                directory.sync();
            } else {
                begin(OperationKind.OPEN, name);
            }
            return new SimulatedDevice(machine, existing(name), pathOf(name));
        });
    }

    @Override
    public MappedFile openMapped(String name, long length, long window) {
        return machine.locked(() -> {
            if (length <= 0 || length % BlockDevice.ALIGNMENT != 0) {
                throw new IllegalArgumentException("a mapped file of " + length + " bytes");
            }
            begin(OperationKind.MAP, name);
            SimulatedFile file = directory.file(name);
            machine.reserve(length - (file == null ? 0 : file.size()), name);
            if (file == null) {
                file = directory.create(name);
            }
            file.resize(length);
            return new SimulatedMapping(machine, file, pathOf(name), window);
        });
    }

    @Override
    public MappedFile openMappedExisting(String name) {
        return machine.locked(() -> {
            begin(OperationKind.MAP_EXISTING, name);
            return new SimulatedMapping(machine, existing(name), pathOf(name), Long.MAX_VALUE);
        });
    }

    @Override
    public MappedFile openAtRest(String name) {
        return machine.locked(() -> {
            begin(OperationKind.MAP_EXISTING, name);
            return SimulatedMapping.atRest(machine, existing(name), pathOf(name));
        });
    }

    @Override
    public MappedFile openRewritten(String name) {
        return machine.locked(() -> {
            begin(OperationKind.MAP_EXISTING, name);
            MappedFile file = SimulatedMapping.atRest(machine, existing(name), pathOf(name));
            existing(name).rewrite();
            return file;
        });
    }

    @Override
    public void delete(String name) {
        machine.locked(() -> {
            begin(OperationKind.DELETE, name);
            directory.delete(name);
            return null;
        });
    }

    @Override
    public void syncDirectory() {
        machine.locked(() -> {
            begin(OperationKind.SYNC_DIRECTORY, "");
            directory.sync();
            return null;
        });
    }

    @Override
    public void close() {
        machine.locked(() -> {
            if (directory.holder() == this) {
                directory.hold(null);
            }
            return null;
        });
    }

    private void syncAs(OperationKind kind, SimulatedFile file, String name) {
        Errno errno = machine.faults().begin(kind, pathOf(name));
        if (errno != null) {
            file.failSync(machine.random());
            throw errno.exception(kind, pathOf(name), -1);
        }
        file.syncAll();
    }

    private void begin(OperationKind kind, String name) {
        Errno errno = machine.faults().begin(kind, pathOf(name));
        if (errno != null) {
            throw errno.exception(kind, pathOf(name), -1);
        }
    }

    private SimulatedFile existing(String name) {
        SimulatedFile file = directory.file(name);
        if (file == null) {
            throw new StoreIoException(ENOENT, "ENOENT", "open", pathOf(name), -1);
        }
        return file;
    }

    private String pathOf(String name) {
        return name.isEmpty() ? path.toString() : path.resolve(name).toString();
    }
}
