// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.channel;

import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContext;
import org.junit.jupiter.api.extension.TestTemplateInvocationContextProvider;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Has each {@link OnEachLane} method, with what stands before and after it, run in the JVM of its lane. */
final class LaneExtension implements TestTemplateInvocationContextProvider {

    @Override
    public boolean supportsTestTemplate(ExtensionContext context) {
        return true;
    }

    @Override
    public Stream<TestTemplateInvocationContext> provideTestTemplateInvocationContexts(ExtensionContext context) {
        OnEachLane test = context.getRequiredTestMethod().getAnnotation(OnEachLane.class);
        return Arrays.stream(test.lanes()).filter(Lane::isChosen)
                .filter(lane -> lane.isLink() || !test.linksOnly()).map(OnLane::new);
    }

    @Override
    public boolean mayReturnZeroTestTemplateInvocationContexts(ExtensionContext context) {
        return true;
    }

    private record OnLane(Lane lane) implements TestTemplateInvocationContext, InvocationInterceptor {

        @Override
        public String getDisplayName(int invocationIndex) {
            return lane.toString();
        }

        @Override
        public List<Extension> getAdditionalExtensions() {
            return List.of(this);
        }

        @Override
        public void interceptBeforeEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
                                              ExtensionContext context) {
            invocation.skip();
        }

        @Override
        public void interceptAfterEachMethod(Invocation<Void> invocation, ReflectiveInvocationContext<Method> method,
                                             ExtensionContext context) {
            invocation.skip();
        }

        @Override
        public void interceptTestTemplateMethod(Invocation<Void> invocation,
                                                ReflectiveInvocationContext<Method> method,
                                                ExtensionContext context) throws Throwable {
            invocation.skip();
            Class<?> testClass = context.getRequiredTestClass();
            Method test = method.getExecutable();
            OnEachLane annotation = test.getAnnotation(OnEachLane.class);
            Duration timeout = Duration.ofSeconds(annotation.timeoutSeconds());
            if (annotation.environment().length > 0) {
                try (LaneJvm own = new LaneJvm(lane, List.of(annotation.environment()))) {
                    own.run(testClass, test.getName(), timeout);
                }
                return;
            }
            // Kept by a context that closes it after the class's last test, or after the last of all.
            ExtensionContext keeper = testClass.isAnnotationPresent(OwnJvm.class)
                    ? context.getParent().orElseThrow().getParent().orElseThrow() : context.getRoot();
            ExtensionContext.Store jvms = keeper.getStore(ExtensionContext.Namespace.create(LaneExtension.class));
            LaneJvm jvm = jvms.get(lane, LaneJvm.class);
            if (jvm == null || !jvm.isAlive()) {
                jvm = new LaneJvm(lane, List.of());
                jvms.put(lane, jvm);
            }
            jvm.run(testClass, test.getName(), timeout);
        }
    }
}
