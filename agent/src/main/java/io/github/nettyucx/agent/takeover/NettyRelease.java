// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.weave.NettyCopy;
import io.netty.channel.IoHandle;
import io.netty.channel.SingleThreadEventLoop;

import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.net.URLConnection;
import java.util.Enumeration;
import java.util.List;
import java.util.Properties;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which release a copy of Netty is of, as far as it tells. */
final class NettyRelease {

    /** The oldest of 4.1 and of 4.2 that are known to have all that the transport needs. */
    private static final int MAJOR = 4;
    private static final int PATCH_OF_1 = 100;
    /** From here on handles are told of their registration, and the loop asks whether it is to tell its active time. */
    private static final int PATCH_OF_2 = 7;

    private static final Pattern RELEASE = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)(?:\\D.*)?");
    /** Which copies under other names may still have in the names of their files. */
    private static final String NETTY = "io.netty";
    /** Keys of the file that tells the release: of the artifact that has channels, and of any. */
    private static final String OF_TRANSPORT = "netty-transport.version";
    private static final String OF_ANY = "netty-";
    private static final String VERSION = ".version";
    /** What the transport's loops override. The file that tells the release may be missing. */
    private static final String TELLTALE = "registeredChannelsIterator";
    /** What they call of Netty 4.2's handles. */
    private static final String TELLTALE_OF_HANDLES = "registered";

    private NettyRelease() {
    }

    /**
     * @param hasIoHandlers whether it is Netty 4.2, by its classes
     * @return {@code null} if there is none
     */
    static String reasonToLeave(NettyCopy copy, boolean hasIoHandlers) {
        String version = version(copy);
        if (!hasWhatLoopsNeed() || hasIoHandlers && !hasWhatHandlesNeed()) {
            return tooOld(version == null ? "of an unknown release" : version);
        }
        Matcher matcher = RELEASE.matcher(version == null ? "" : version);
        if (!matcher.matches()) {
            return null;
        }
        return isGood(Integer.parseInt(matcher.group(1)), Integer.parseInt(matcher.group(2)),
                Integer.parseInt(matcher.group(3))) ? null : tooOld(version);
    }

    private static boolean isGood(int major, int minor, int patch) {
        return major == MAJOR && switch (minor) {
            case 0 -> false;
            case 1 -> patch >= PATCH_OF_1;
            case 2 -> patch >= PATCH_OF_2;
            default -> true;
        };
    }

    private static String tooOld(String version) {
        return "it is " + version + "; expected Netty " + MAJOR + ".1." + PATCH_OF_1 + " or later, or " + MAJOR + ".2."
                + PATCH_OF_2 + " or later";
    }

    /**
     * {@code null} if unknown. Netty's {@code Version} would read the files of all artifacts, and the dates in them, for which
     * a JVM that has just started makes locales and time zones ready first.
     */
    private static String version(NettyCopy copy) {
        String name = copy.rootPackage().replace('.', '/') + "/channel/Channel.class";
        URL channel = copy.loader().getResource(name);
        if (channel == null) {
            return null;
        }
        String jar = channel.toString().substring(0, channel.toString().length() - name.length());
        for (String file : List.of(copy.rootPackage(), NETTY)) {
            String version = version(copy.loader(), jar, "META-INF/" + file + ".versions.properties");
            if (version != null) {
                return version;
            }
        }
        return null;
    }

    /** Each artifact of Netty has such a file. Looks no farther than to that of the same jar as the channels. */
    private static String version(ClassLoader loader, String jar, String file) {
        try {
            Enumeration<URL> files = loader.getResources(file);
            while (files.hasMoreElements()) {
                URL each = files.nextElement();
                if (each.toString().startsWith(jar)) {
                    return version(each);
                }
            }
        } catch (IOException | RuntimeException e) {
            // Then it does not tell.
        }
        return null;
    }

    private static String version(URL file) throws IOException {
        Properties properties = new Properties();
        URLConnection connection = file.openConnection();
        // A cached jar would stay open when its class loader has gone.
        connection.setUseCaches(false);
        try (InputStream in = connection.getInputStream()) {
            properties.load(in);
        }
        String ofTransport = properties.getProperty(OF_TRANSPORT);
        return ofTransport != null ? ofTransport : versionOfAnother(properties);
    }

    /**
     * Of a library that has all of Netty in its own jar the file is that of one artifact, whichever has been put in last. All
     * have one version, but for those that count for themselves, as OpenSSL's.
     */
    private static String versionOfAnother(Properties properties) {
        for (String key : new TreeSet<>(properties.stringPropertyNames())) {
            String version = properties.getProperty(key);
            if (key.startsWith(OF_ANY) && key.endsWith(VERSION) && version.startsWith(MAJOR + ".")) {
                return version;
            }
        }
        return null;
    }

    private static boolean hasWhatLoopsNeed() {
        return has(SingleThreadEventLoop.class, TELLTALE);
    }

    /** Apart: other Nettys have no such class. */
    private static boolean hasWhatHandlesNeed() {
        return has(IoHandle.class, TELLTALE_OF_HANDLES);
    }

    private static boolean has(Class<?> type, String method) {
        try {
            type.getMethod(method);
            return true;
        } catch (NoSuchMethodException | LinkageError e) {
            return false;
        }
    }
}
