// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.weave;

import java.io.IOException;
import java.lang.module.Configuration;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReader;
import java.lang.module.ModuleReference;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The module that the binding of UCX is in. As a module of its own it can be allowed to call native code, which the
 * application then need not be.
 */
final class BindingModule {

    private static final String NAME = "io.github.nettyucx.natives";
    private static final Set<String> PACKAGES =
            Set.of("io.github.nettyucx.library", "io.github.nettyucx.socket", "io.github.nettyucx.ucp");

    private static boolean defined;

    private BindingModule() {
    }

    /**
     * Has the agent's class loader define the binding's classes in it, if it does not yet. Before it has loaded one of them,
     * but not before it has to: layers take their time, and programs without Netty need none.
     */
    static synchronized void defineFor(ClassLoader loader) throws ReflectiveOperationException {
        if (!defined) {
            define(loader);
            defined = true;
        }
    }

    private static void define(ClassLoader loader) throws ReflectiveOperationException {
        ModuleDescriptor.Builder builder = ModuleDescriptor.newModule(NAME).packages(PACKAGES);
        PACKAGES.forEach(builder::exports);
        ModuleFinder finder = finder(new Reference(builder.build()));
        ModuleLayer boot = ModuleLayer.boot();
        Configuration configuration = boot.configuration().resolve(finder, ModuleFinder.of(), Set.of(NAME));
        Module module = ModuleLayer.defineModules(configuration, List.of(boot), name -> loader).layer()
                .findModule(NAME).orElseThrow();
        // The public method of a layer's controller may only be called by who is allowed to call native code already.
        Method enable = Module.class.getDeclaredMethod("implAddEnableNativeAccess");
        enable.setAccessible(true);
        enable.invoke(module);
    }

    private static ModuleFinder finder(ModuleReference reference) {
        return new ModuleFinder() {
            @Override
            public Optional<ModuleReference> find(String name) {
                return name.equals(NAME) ? Optional.of(reference) : Optional.empty();
            }

            @Override
            public Set<ModuleReference> findAll() {
                return Set.of(reference);
            }
        };
    }

    /** Only its description is asked for: the class loader reads the classes. */
    private static final class Reference extends ModuleReference {

        Reference(ModuleDescriptor descriptor) {
            super(descriptor, null);
        }

        @Override
        public ModuleReader open() throws IOException {
            throw new IOException("the module " + NAME + " is read by its class loader");
        }
    }
}
