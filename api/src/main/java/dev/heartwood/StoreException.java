package dev.heartwood;

/** A failure of a store, its files or its machine. The subtypes say which. */
public abstract sealed class StoreException extends RuntimeException
        permits ClosedException,
                CorruptionException,
                FormatTooNewException,
                FormatTooOldException,
                IncompatibleOptionsException,
                InsufficientMemoryException,
                LockedException,
                NoSpaceException,
                NotAStoreException,
                PreviousFailureException,
                StoreExistsException,
                StoreIoException,
                TooLargeException,
                UnsuitableTargetException {
    StoreException(String message, Throwable cause) {
        super(message, cause);
    }
}
