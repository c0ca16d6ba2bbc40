package dev.heartwood.planted;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeTransform;
import java.net.URL;
import java.util.Enumeration;
import java.util.List;
import java.util.function.Function;

/** Loads Heartwood, the test kit and the tests a second time, with one fault planted. */
final class PlantedEngine extends ClassLoader {
    private static final String OURS = "dev.heartwood.";

    private final List<String> classNames;
    private final List<String> methods;
    private final Function<Runnable, CodeTransform> edit;
    private int places;

    PlantedEngine(PlantedFault fault) {
        this(fault.classNames(), fault.methods(), fault::edit);
    }

    /** The engine with the methods of the classes edited. */
    PlantedEngine(List<String> classNames, List<String> methods, Function<Runnable, CodeTransform> edit) {
        super(PlantedEngine.class.getClassLoader());
        this.classNames = classNames;
        this.methods = methods;
        this.edit = edit;
    }

    /** In how many places the fault was planted so far. */
    int places() {
        return places;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        synchronized (getClassLoadingLock(name)) {
            Class<?> loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            return name.startsWith(OURS) ? findClass(name) : super.loadClass(name, resolve);
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        byte[] code;
        try (InputStream stream = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (stream == null) {
                throw new ClassNotFoundException(name);
            }
            code = stream.readAllBytes();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (classNames.contains(name)) {
            code = planted(code);
        }
        return defineClass(name, code, 0, code.length, PlantedEngine.class.getProtectionDomain());
    }

    private byte[] planted(byte[] code) {
        ClassFile format = ClassFile.of(ClassFile.DebugElementsOption.DROP_DEBUG);
        ClassTransform transform = ClassTransform.transformingMethodBodies(
                method -> methods.contains(method.methodName().stringValue()), edit.apply(() -> places++));
        return format.transformClass(format.parse(code), transform);
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        return getParent().getResources(name);
    }
}
