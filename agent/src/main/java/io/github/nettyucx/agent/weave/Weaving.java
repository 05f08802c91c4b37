// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import java.lang.classfile.AccessFlags;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.CodeTransform;
import java.lang.classfile.FieldModel;
import java.lang.classfile.MethodModel;
import java.lang.classfile.Opcode;
import java.lang.classfile.instruction.InvokeInstruction;
import java.lang.constant.ClassDesc;
import java.lang.constant.ConstantDescs;
import java.lang.constant.MethodTypeDesc;
import java.lang.reflect.AccessFlag;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * How the classes of one copy of Netty are made to ask. A method that is taken over keeps its code under another name, and
 * a short one of its name asks the copy's {@code Hooks}, and calls it or not.
 */
final class Weaving {

    private static final String NEW_CHILD = "newChild";
    private static final String REGISTER = "register";
    private static final ClassDesc ITERABLE = ClassDesc.of("java.lang.Iterable");
    private static final ClassDesc EXECUTOR = ClassDesc.of("java.util.concurrent.Executor");
    private static final ClassDesc ARGUMENTS = ConstantDescs.CD_Object.arrayType();

    private final ClassFile classFiles;
    private final ClassDesc hooks;
    private final ClassDesc channel;
    private final ClassDesc abstractChannel;
    private final ClassDesc bootstrap;
    private final ClassDesc eventLoop;
    private final ClassDesc eventLoopGroup;
    private final ClassDesc promise;
    /** Of Netty 4.2's. */
    private final ClassDesc ioHandle;

    Weaving(Relocation relocation, ClassLoader loader) {
        ClassHierarchyResolver resolver = ClassHierarchyResolver.ofResourceParsing(loader)
                .orElse(ClassHierarchyResolver.defaultResolver());
        classFiles = ClassFile.of(ClassFile.ClassHierarchyResolverOption.of(resolver));
        hooks = named(relocation, "io/github/nettyucx/agent/hook/Hooks");
        channel = named(relocation, "io/netty/channel/Channel");
        abstractChannel = named(relocation, "io/netty/channel/AbstractChannel");
        bootstrap = named(relocation, "io/netty/bootstrap/AbstractBootstrap");
        eventLoop = named(relocation, "io/netty/channel/EventLoop");
        eventLoopGroup = named(relocation, "io/netty/channel/EventLoopGroup");
        promise = named(relocation, "io/netty/channel/ChannelPromise");
        ioHandle = named(relocation, "io/netty/channel/IoHandle");
    }

    private static ClassDesc named(Relocation relocation, String name) {
        return ClassDesc.ofInternalName(relocation.map(name));
    }

    /**
     * @return {@code null} if the class has not what is to be taken over: it is of another Netty, or not Netty's
     */
    byte[] weave(WovenClass kind, byte[] bytes) {
        ClassModel model = classFiles.parse(bytes);
        return switch (kind) {
            case BOOTSTRAP -> weaveBootstrap(model);
            case REACTOR -> weaveReactor(model);
            case UNSAFE -> weaveUnsafe(model);
            case IO_LOOP -> weaveIoLoop(model);
            case IO_GROUP, NIO_GROUP, EPOLL_GROUP, IO_URING_GROUP -> weaveGroup(model);
        };
    }

    // ------------------------------------------------------------------------------------------- channels

    /** Whatever a bootstrap's factory makes is looked at first. */
    private byte[] weaveBootstrap(ClassModel model) {
        MethodTypeDesc ask = MethodTypeDesc.of(channel, ConstantDescs.CD_Object, bootstrap);
        return weaveCreation(model, method(model, "initAndRegister", null),
                code -> code.aload(0).invokestatic(hooks, "newChannel", ask));
    }

    /** The same where it is what Reactor Netty has in a bootstrap's place. */
    private byte[] weaveReactor(ClassModel model) {
        MethodModel creation = method(model, "doInitAndRegister", null);
        if (creation == null || !creation.flags().has(AccessFlag.STATIC)) {
            return null;
        }
        MethodTypeDesc type = creation.methodTypeSymbol();
        int last = type.parameterCount() - 1;
        // Its settings, an initializer of its own, whether it is a domain socket, and the loop.
        if (last != 3 || type.parameterType(0).isPrimitive() || !type.parameterType(last).equals(eventLoop)) {
            return null;
        }
        MethodTypeDesc ask = MethodTypeDesc.of(channel, ConstantDescs.CD_Object, ConstantDescs.CD_Object, eventLoop);
        return weaveCreation(model, creation,
                code -> code.aload(0).aload(last).invokestatic(hooks, "newChannel", ask));
    }

    /** @param asking what is done in the place of the call of a factory, which is on the stack */
    private byte[] weaveCreation(ClassModel model, MethodModel creation, Consumer<CodeBuilder> asking) {
        if (creation == null || creation.code().isEmpty()
                || creation.code().get().elementStream().noneMatch(this::makesChannel)) {
            return null;
        }
        CodeTransform transform = (code, element) -> {
            if (makesChannel(element)) {
                asking.accept(code);
            } else {
                code.with(element);
            }
        };
        return classFiles.transformClass(model,
                ClassTransform.transformingMethodBodies(method -> method == creation, transform));
    }

    private boolean makesChannel(Object element) {
        return element instanceof InvokeInstruction call && call.opcode() == Opcode.INVOKEINTERFACE
                && call.name().equalsString("newChannel") && call.typeSymbol().parameterCount() == 0
                && call.typeSymbol().returnType().equals(channel);
    }

    /** Channels that do not go with a loop of the transport's are registered with the one beside it. */
    private byte[] weaveUnsafe(ClassModel model) {
        MethodModel registration = method(model, REGISTER, MethodTypeDesc.of(ConstantDescs.CD_void, eventLoop, promise));
        if (registration == null) {
            return null;
        }
        String outer = outerChannel(model);
        return outer == null ? null : takeOver(model, method -> method == registration, (code, method) -> {
            var none = code.newLabel();
            var refused = code.newLabel();
            // Netty refuses a loop that is none.
            code.aload(1).ifnull(refused);
            code.invokestatic(hooks, "registering", MethodTypeDesc.of(ConstantDescs.CD_void));
            code.aload(1);
            // Not the promise's, which may be that of another channel.
            code.aload(0).getfield(model.thisClass().asSymbol(), outer, abstractChannel).aload(1);
            code.invokevirtual(abstractChannel, "isCompatible",
                    MethodTypeDesc.of(ConstantDescs.CD_boolean, eventLoop));
            code.aload(0).getfield(model.thisClass().asSymbol(), outer, abstractChannel).aload(2);
            askForLoopBeside(code, channel, promise);
            code.astore(3);
            code.aload(3).ifnull(none);
            code.aload(0).aload(3).aload(2);
            callOriginal(model, code, method);
            code.labelBinding(none);
            code.return_();
            code.labelBinding(refused);
            code.aload(0).aload(1).aload(2);
            callOriginal(model, code, method);
            code.return_();
        });
    }

    /** The field in which an inner class has its channel; {@code null} if there is none. */
    private String outerChannel(ClassModel model) {
        for (FieldModel field : model.fields()) {
            if (field.flags().has(AccessFlag.SYNTHETIC) && field.fieldTypeSymbol().equals(abstractChannel)) {
                return field.fieldName().stringValue();
            }
        }
        return null;
    }

    /** The same for handles that applications register themselves. */
    private byte[] weaveIoLoop(ClassModel model) {
        MethodModel registration = null;
        for (MethodModel each : model.methods()) {
            MethodTypeDesc type = each.methodTypeSymbol();
            if (each.methodName().equalsString(REGISTER) && type.parameterCount() == 1
                    && type.parameterType(0).equals(ioHandle)) {
                registration = each;
            }
        }
        MethodModel taken = registration;
        return takeOver(model, method -> method == taken, (code, method) -> {
            var own = code.newLabel();
            code.invokestatic(hooks, "registering", MethodTypeDesc.of(ConstantDescs.CD_void));
            code.aload(0).aload(0).aload(1);
            code.invokevirtual(ConstantDescs.CD_Object, "getClass", MethodTypeDesc.of(ConstantDescs.CD_Class));
            code.invokevirtual(model.thisClass().asSymbol(), "isCompatible",
                    MethodTypeDesc.of(ConstantDescs.CD_boolean, ConstantDescs.CD_Class));
            code.aload(1);
            askForLoopBeside(code, ConstantDescs.CD_Object);
            code.astore(2);
            code.aload(2).aload(0).if_acmpeq(own);
            code.aload(2).checkcast(model.thisClass().asSymbol()).aload(1);
            callOriginal(model, code, method);
            code.areturn();
            code.labelBinding(own);
            code.aload(0).aload(1);
            callOriginal(model, code, method);
            code.areturn();
        });
    }

    /** The loop, whether it takes what is registered, and what tells of that are on the stack. */
    private void askForLoopBeside(CodeBuilder code, ClassDesc... registered) {
        code.invokestatic(hooks, "loopFor", MethodTypeDesc.of(eventLoop, eventLoop, ConstantDescs.CD_boolean)
                .insertParameterTypes(2, registered));
    }

    // ------------------------------------------------------------------------------------------- groups

    /** Loops are those of the transport, in groups that stay what they are. What casts the loops is left out then. */
    private byte[] weaveGroup(ClassModel model) {
        MethodModel creation = null;
        for (MethodModel each : model.methods()) {
            if (each.methodName().equalsString(NEW_CHILD) && isOwn(each) && makesLoop(each.methodTypeSymbol())) {
                creation = each;
            }
        }
        MethodModel newChild = creation;
        // On Netty 4.2 the group of NIO and of epoll have it from their superclass.
        return takeOver(model, method -> method == newChild || isOwn(method) && castsLoops(method), (code, method) -> {
            if (method == newChild) {
                askForLoop(model, code, method);
            } else {
                askWhetherTaken(model, code, method);
            }
        });
    }

    /** Not a bridge of the compiler's. */
    private static boolean isOwn(MethodModel method) {
        return !method.flags().has(AccessFlag.SYNTHETIC) && method.code().isPresent();
    }

    private boolean makesLoop(MethodTypeDesc type) {
        return type.parameterCount() == 2 && type.parameterType(0).equals(EXECUTOR)
                && type.parameterType(1).equals(ARGUMENTS);
    }

    private static boolean castsLoops(MethodModel method) {
        String signature = method.methodName().stringValue() + method.methodType().stringValue();
        return signature.equals("setIoRatio(I)V") || signature.equals("rebuildSelectors()V");
    }

    private void askForLoop(ClassModel model, CodeBuilder code, MethodModel method) {
        ClassDesc type = method.methodTypeSymbol().returnType();
        var none = code.newLabel();
        code.aload(0).aload(1).aload(2);
        code.invokestatic(hooks, "newLoop", MethodTypeDesc.of(eventLoop, eventLoopGroup, EXECUTOR, ARGUMENTS));
        code.astore(3);
        code.aload(3).ifnull(none);
        code.aload(3);
        if (!type.equals(eventLoop)) {
            code.checkcast(type);
        }
        code.areturn();
        code.labelBinding(none);
        code.aload(0).aload(1).aload(2);
        callOriginal(model, code, method);
        code.areturn();
    }

    private void askWhetherTaken(ClassModel model, CodeBuilder code, MethodModel method) {
        var taken = code.newLabel();
        code.aload(0).invokestatic(hooks, "isTaken", MethodTypeDesc.of(ConstantDescs.CD_boolean, ITERABLE));
        code.ifne(taken);
        code.aload(0);
        if (method.methodTypeSymbol().parameterCount() == 1) {
            code.iload(1);
        }
        callOriginal(model, code, method);
        code.labelBinding(taken);
        code.return_();
    }

    // ------------------------------------------------------------------------------------------- what all have

    @FunctionalInterface
    private interface Body {
        void write(CodeBuilder code, MethodModel original);
    }

    private static MethodModel method(ClassModel model, String name, MethodTypeDesc type) {
        for (MethodModel each : model.methods()) {
            if (each.methodName().equalsString(name) && (type == null || each.methodTypeSymbol().equals(type))) {
                return each;
            }
        }
        return null;
    }

    /** @return {@code null} if there is no such method */
    private byte[] takeOver(ClassModel model, Predicate<MethodModel> which, Body body) {
        if (model.methods().stream().noneMatch(which)) {
            return null;
        }
        return classFiles.transformClass(model, (builder, element) -> {
            if (!(element instanceof MethodModel method) || !which.test(method)) {
                builder.with(element);
                return;
            }
            Consumer<CodeBuilder> asking = code -> body.write(code, method);
            // Public, for who makes the loop that was left out.
            int flags = ClassFile.ACC_PUBLIC | ClassFile.ACC_SYNTHETIC;
            builder.withMethod(method.methodName().stringValue() + NettyCopy.ORIGINAL, method.methodTypeSymbol(), flags,
                    original -> method.forEach(part -> {
                        if (!(part instanceof AccessFlags)) {
                            original.with(part);
                        }
                    }));
            builder.withMethodBody(method.methodName().stringValue(), method.methodTypeSymbol(),
                    method.flags().flagsMask(), asking);
        });
    }

    private static void callOriginal(ClassModel model, CodeBuilder code, MethodModel method) {
        code.invokevirtual(model.thisClass().asSymbol(), method.methodName().stringValue() + NettyCopy.ORIGINAL,
                method.methodTypeSymbol());
    }
}
