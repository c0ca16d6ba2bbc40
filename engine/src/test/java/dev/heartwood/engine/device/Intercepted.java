package dev.heartwood.engine.device;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;

/** What calls of an interface return goes through the hands of a test. */
public final class Intercepted {
    /** Is shown what a call has returned, and returns what its caller is to get; or throws. */
    public interface Returning {
        Object result(String method, Object[] arguments, Object result);
    }

    private Intercepted() {}

    /** {@code of}, seen as a {@code type} whose calls return what {@code returning} says. */
    public static <T> T proxy(Class<T> type, T of, Returning returning) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
            try {
                return returning.result(method.getName(), arguments, method.invoke(of, arguments));
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }));
    }
}
