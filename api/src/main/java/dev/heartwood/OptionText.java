package dev.heartwood;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/** Reads the values of options from text; what it refuses it refuses by the name of the option. */
final class OptionText {
    private static final int NAME_BYTES_MAX = 256;

    private OptionText() {}

    static ByteSize size(String name, String value) {
        try {
            return ByteSize.parse(value);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + " is " + e.getMessage(), e);
        }
    }

    static int number(String name, String value) {
        try {
            return Integer.parseInt(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " is not a number: '" + value + "'", e);
        }
    }

    static double decimal(String name, String value) {
        try {
            return Double.parseDouble(value);
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(name + " is not a number: '" + value + "'", e);
        }
    }

    static <E extends Enum<E>> E constant(Class<E> type, String name, String value) {
        try {
            return Enum.valueOf(type, value.toUpperCase(Locale.ROOT));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    name + " is '" + value + "' and not one of " + List.of(type.getEnumConstants()), e);
        }
    }

    /** The name of an operator or filter, which the options of a store, lines of text in its superblock, give back as it was. */
    static String storable(String what, String name) {
        if (name == null) {
            throw new IllegalArgumentException("the " + what + " has no name");
        }
        if (name.isEmpty()) {
            throw new IllegalArgumentException("the name of the " + what + " is empty, which stands for none");
        }
        byte[] encoded = name.getBytes(StandardCharsets.UTF_8);
        if (encoded.length > NAME_BYTES_MAX) {
            throw new IllegalArgumentException(
                    "the name of the " + what + " takes " + encoded.length + " bytes, more than " + NAME_BYTES_MAX);
        }
        boolean isText = name.chars().noneMatch(Character::isISOControl)
                && name.equals(name.strip())
                && name.equals(new String(encoded, StandardCharsets.UTF_8));
        if (!isText) {
            throw new IllegalArgumentException("the name of the " + what
                    + " begins or ends with a blank, or has control characters or halves of characters in it");
        }
        return name;
    }
}
