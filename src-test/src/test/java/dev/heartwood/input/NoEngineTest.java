package dev.heartwood.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.heartwood.Heartwood;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** The API alone on the class path: each call says what is missing, where the second met a class that could not be initialized. */
class NoEngineTest {
    @Test
    void everyCallSaysWhatIsMissing() throws Exception {
        URL api = Heartwood.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader alone = new URLClassLoader(new URL[] {api}, ClassLoader.getPlatformClassLoader())) {
            Method open = alone.loadClass(Heartwood.class.getName()).getMethod("open", Path.class);
            for (int i = 0; i < 2; i++) {
                InvocationTargetException thrown = assertThrows(InvocationTargetException.class, () -> open.invoke(null, Path.of("store")));
                assertEquals(IllegalStateException.class, thrown.getCause().getClass());
                assertTrue(thrown.getCause().getMessage().contains("heartwood-engine"), thrown.getCause()::getMessage);
            }
        }
    }
}
