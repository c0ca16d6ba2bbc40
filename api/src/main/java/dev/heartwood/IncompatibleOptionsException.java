package dev.heartwood;

/** The options do not fit the existing store. Nothing has changed. */
public final class IncompatibleOptionsException extends StoreException {
    private final String option;

    /**
     * Names one option.
     *
     * @param option the option
     * @param stored what the store was made with
     * @param requested what was asked for
     */
    public IncompatibleOptionsException(String option, String stored, String requested) {
        super("option " + option + ": the store has '" + stored + "', the options say '" + requested + "'", null);
        this.option = option;
    }

    /** The option that does not fit. */
    public String option() {
        return option;
    }
}
