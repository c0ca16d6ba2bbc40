package dev.heartwood.planted;

import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeElement;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.Opcode;
import java.lang.classfile.TypeKind;
import java.lang.classfile.instruction.FieldInstruction;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.util.List;
import java.util.function.Consumer;

/** The few ways in which faults change code. {@code planted} is called for each place that was changed. */
final class Edits {
    private Edits() {}

    /** Calls of a method do nothing and return zero, false or null. */
    static CodeTransform dropCalls(String owner, String method, Runnable planted) {
        return onCalls(owner, method, planted, Edits::drop);
    }

    /** Only the call that comes last in the code is dropped, of so many. */
    static CodeTransform dropCall(int number, String owner, String method, Runnable planted) {
        int[] calls = {0};
        return (builder, element) -> {
            if (isCall(element, owner, method) && ++calls[0] == number) {
                planted.run();
                drop(builder, (InvokeInstruction) element);
            } else {
                builder.with(element);
            }
        };
    }

    /** Something else happens at calls of a method. */
    static CodeTransform onCalls(String owner, String method, Runnable planted, Replacement replacement) {
        return (builder, element) -> {
            if (isCall(element, owner, method)) {
                planted.run();
                replacement.write(builder, (InvokeInstruction) element);
            } else {
                builder.with(element);
            }
        };
    }

    /** The method begins with other code. */
    static CodeTransform atStart(Runnable planted, Consumer<CodeBuilder> code) {
        return CodeTransform.ofStateful(() -> new CodeTransform() {
            @Override
            public void atStart(CodeBuilder builder) {
                planted.run();
                code.accept(builder);
            }

            @Override
            public void accept(CodeBuilder builder, CodeElement element) {
                builder.with(element);
            }
        });
    }

    /** Fields are not written. */
    static CodeTransform dropWrites(List<String> fields, Runnable planted) {
        return (builder, element) -> {
            if (element instanceof FieldInstruction write
                    && write.opcode() == Opcode.PUTFIELD
                    && fields.contains(write.name().stringValue())) {
                planted.run();
                pop(builder, TypeKind.from(write.typeSymbol()));
                builder.pop();
            } else {
                builder.with(element);
            }
        };
    }

    /** What is written into a field has a method without arguments called on it before. */
    static CodeTransform callBeforeWrite(String field, String method, String descriptor, Runnable planted) {
        return (builder, element) -> {
            if (element instanceof FieldInstruction write
                    && write.opcode() == Opcode.PUTFIELD
                    && write.name().equalsString(field)) {
                planted.run();
                builder.dup()
                        .invokevirtual(
                                write.typeSymbol(), method, java.lang.constant.MethodTypeDesc.ofDescriptor(descriptor));
            }
            builder.with(element);
        };
    }

    /** Code written in place of a call. */
    interface Replacement {
        void write(CodeBuilder builder, InvokeInstruction call);
    }

    private static boolean isCall(CodeElement element, String owner, String method) {
        return element instanceof InvokeInstruction call
                && call.name().equalsString(method)
                && call.owner().asInternalName().endsWith("/" + owner);
    }

    private static void drop(CodeBuilder builder, InvokeInstruction call) {
        List<ClassDesc> parameters = call.typeSymbol().parameterList();
        for (int i = parameters.size() - 1; i >= 0; i--) {
            pop(builder, TypeKind.from(parameters.get(i)));
        }
        if (call.opcode() != Opcode.INVOKESTATIC) {
            builder.pop();
        }
        switch (TypeKind.from(call.typeSymbol().returnType()).asLoadable()) {
            case VOID -> {}
            case LONG -> builder.lconst_0();
            case DOUBLE -> builder.dconst_0();
            case FLOAT -> builder.fconst_0();
            case INT -> builder.iconst_0();
            default -> builder.aconst_null();
        }
    }

    private static void pop(CodeBuilder builder, TypeKind kind) {
        if (kind.slotSize() == 2) {
            builder.pop2();
        } else {
            builder.pop();
        }
    }
}
