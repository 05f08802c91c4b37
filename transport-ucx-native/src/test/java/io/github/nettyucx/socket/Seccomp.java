// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.socket;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;

/** Has the kernel refuse system calls to one thread, as the sandbox of a container does to a process. */
final class Seccomp {
    /** Its number is the same everywhere. */
    static final int EPOLL_PWAIT2 = 441;
    static final int WRITE = number(1, 64);
    static final int WRITEV = number(20, 66);
    static final int PWRITE64 = number(18, 68);
    static final int SENDFILE = number(40, 71);
    static final int SOCKET = number(41, 198);
    static final int SETSOCKOPT = number(54, 208);
    static final int EPOLL_CTL = number(233, 21);
    static final int TIMERFD_CREATE = number(283, 85);
    static final int TIMERFD_SETTIME = number(286, 86);

    private static final int PR_SET_SECCOMP = 22;
    private static final int PR_SET_NO_NEW_PRIVS = 38;
    private static final int SECCOMP_MODE_FILTER = 2;
    private static final int LOAD_WORD = 0x20;
    private static final int JUMP_IF_EQUAL = 0x15;
    private static final int RETURN = 0x06;
    private static final int ALLOW = 0x7fff0000;
    private static final int REFUSE = 0x00050000;
    private static final int INSTRUCTION = 8;

    private Seccomp() {
    }

    private static int number(int onX86, int onArm) {
        return SocketLayouts.EpollEvent.isPacked(System.getProperty("os.arch")) ? onX86 : onArm;
    }

    /** Runs an action on a thread of its own to which these calls answer with this error. */
    static <T> T refusing(int errno, Callable<T> action, int... calls) throws Exception {
        FutureTask<T> task = new FutureTask<>(() -> {
            refuse(errno, calls);
            return action.call();
        });
        Thread.ofPlatform().daemon().start(task);
        return task.get(30, TimeUnit.SECONDS);
    }

    private static void refuse(int errno, int... calls) {
        MethodHandle prctl = Linker.nativeLinker().downcallHandle(
                Linker.nativeLinker().defaultLookup().findOrThrow("prctl"),
                FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG),
                Linker.Option.firstVariadicArg(1));
        try (Arena arena = Arena.ofConfined()) {
            int length = 2 * calls.length + 2;
            MemorySegment filter = arena.allocate((long) length * INSTRUCTION, 8);
            int next = 0;
            write(filter, next++, LOAD_WORD, 0, 0);
            for (int call : calls) {
                write(filter, next++, JUMP_IF_EQUAL, 1, call);
                write(filter, next++, RETURN, 0, REFUSE | errno);
            }
            write(filter, next, RETURN, 0, ALLOW);
            MemorySegment program = arena.allocate(16, 8);
            program.set(JAVA_SHORT, 0, (short) length);
            program.set(JAVA_LONG, 8, filter.address());
            int result = (int) prctl.invokeExact(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L);
            if (result == 0) {
                result = (int) prctl.invokeExact(PR_SET_SECCOMP, (long) SECCOMP_MODE_FILTER, program.address(), 0L, 0L);
            }
            Assumptions.assumeTrue(result == 0, "this machine has no seccomp");
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError(t);
        }
    }

    /** A jump that is not taken skips the instruction behind it. */
    private static void write(MemorySegment filter, int index, int code, int skippedIfNot, int operand) {
        long offset = (long) index * INSTRUCTION;
        filter.set(JAVA_SHORT, offset, (short) code);
        filter.set(JAVA_BYTE, offset + 2, (byte) 0);
        filter.set(JAVA_BYTE, offset + 3, (byte) skippedIfNot);
        filter.set(JAVA_INT, offset + 4, operand);
    }
}
