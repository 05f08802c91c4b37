// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent;

import java.lang.module.Configuration;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Runs another application of the tests with a Netty of modules: a layer with a class loader of its own, as containers and
 * plug-ins have it. The arguments are the jars, the application, and its arguments.
 */
public final class ModuleApplication {

    private ModuleApplication() {
    }

    public static void main(String[] arguments) throws Exception {
        ModuleFinder jars = ModuleFinder.of(Arrays.stream(arguments[0].split(":")).map(Path::of).toArray(Path[]::new));
        Set<String> names = jars.findAll().stream().map(ModuleReference::descriptor).map(each -> each.name())
                .collect(Collectors.toSet());
        ModuleLayer boot = ModuleLayer.boot();
        Configuration configuration = boot.configuration().resolve(jars, ModuleFinder.of(), names);
        ModuleLayer layer = ModuleLayer.defineModulesWithOneLoader(configuration, List.of(boot),
                ClassLoader.getPlatformClassLoader()).layer();
        Module netty = layer.findModule("io.netty.transport").orElseThrow();
        System.out.println("automatic " + netty.getDescriptor().isAutomatic());
        URL classes = ModuleApplication.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader application = new URLClassLoader(new URL[] {classes}, netty.getClassLoader())) {
            application.loadClass(arguments[1]).getMethod("main", String[].class)
                    .invoke(null, (Object) Arrays.copyOfRange(arguments, 2, arguments.length));
        }
    }
}
