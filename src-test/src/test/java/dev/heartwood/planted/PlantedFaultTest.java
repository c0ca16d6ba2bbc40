package dev.heartwood.planted;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every planted fault is found by its campaign, as it runs in every build. */
class PlantedFaultTest {
    @ParameterizedTest
    @EnumSource
    void itsCampaignFindsIt(PlantedFault fault) throws ReflectiveOperationException {
        PlantedEngine engine = new PlantedEngine(fault);
        Class<?> campaign = engine.loadClass(fault.campaignClass());
        Constructor<?> constructor = campaign.getDeclaredConstructor();
        constructor.setAccessible(true);
        Method method = campaign.getDeclaredMethod(fault.campaignMethod());
        method.setAccessible(true);
        Object test = constructor.newInstance();
        InvocationTargetException found = assertThrows(InvocationTargetException.class, () -> method.invoke(test));
        assertTrue(engine.places() > 0, "the fault was planted nowhere");
        // A class that cannot be loaded would be found by anything.
        assertInstanceOf(AssertionError.class, found.getCause(), () -> "not found by a check: " + found.getCause());
        assertTrue(!hasLinkageError(found.getCause()), () -> "the planted code does not load: " + found.getCause());
    }

    private static boolean hasLinkageError(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof LinkageError) {
                return true;
            }
        }
        return false;
    }
}
