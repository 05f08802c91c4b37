// SPDX-License-Identifier: Apache-2.0
package io.github.nettyucx.agent.takeover;

import io.github.nettyucx.agent.weave.NettyCopy;
import io.netty.channel.SingleThreadEventLoop;
import io.netty.util.Version;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Which release a copy of Netty is of, as far as it tells. */
final class NettyRelease {

    /** The oldest that is known to have all that the transport needs. */
    private static final int MAJOR = 4;
    private static final int MINOR = 1;
    private static final int PATCH = 100;

    private static final Pattern RELEASE = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)\\D.*");
    /** What the transport's loops override. The file that tells the release may be missing, or be another copy's. */
    private static final String TELLTALE = "registeredChannelsIterator";

    private NettyRelease() {
    }

    /** @return {@code null} if there is none */
    static String reasonToLeave(NettyCopy copy) {
        String version = version(copy.loader());
        if (!hasWhatLoopsNeed()) {
            return tooOld(version == null ? "of an unknown release" : version);
        }
        Matcher matcher = RELEASE.matcher(version == null ? "" : version);
        if (!matcher.matches()) {
            return null;
        }
        int major = Integer.parseInt(matcher.group(1));
        int minor = Integer.parseInt(matcher.group(2));
        int patch = Integer.parseInt(matcher.group(3));
        boolean good = major == MAJOR && (minor > MINOR || minor == MINOR && patch >= PATCH);
        return good ? null : tooOld(version);
    }

    private static String tooOld(String version) {
        return "it is " + version + "; expected Netty " + MAJOR + '.' + MINOR + '.' + PATCH + " or later";
    }

    /** Of the artifact that has channels; of another one if a copy was made of all in one. {@code null} if unknown. */
    private static String version(ClassLoader loader) {
        Map<String, Version> artifacts = Version.identify(loader);
        Version version = artifacts.get("netty-transport");
        return version == null ? null : version.artifactVersion();
    }

    private static boolean hasWhatLoopsNeed() {
        try {
            SingleThreadEventLoop.class.getMethod(TELLTALE);
            return true;
        } catch (NoSuchMethodException | LinkageError e) {
            return false;
        }
    }
}
