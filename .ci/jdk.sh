# Finds a JDK for the scripts of this directory.

major_version() {
    "$1/bin/java" -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java.specification.version = //p'
}

# A home of a JDK (with a compiler) of release 25 or later, if there is one.
find_jdk() {
    local home version
    for home in "${JAVA_HOME:-}" "${JAVA25_HOME:-}" /usr/lib/jvm/* /opt/java/* /opt/jdk* "${HOME:-/root}"/.sdkman/candidates/java/* \
            "${HOME:-/root}"/.jdks/* "$(dirname "$(dirname "$(readlink -f "$(command -v javac || true)")")")"; do
        if [ -n "$home" ] && [ -x "$home/bin/javac" ]; then
            version=$(major_version "$home")
            if [ "${version%%.*}" -ge 25 ] 2> /dev/null; then
                echo "$home"
                return
            fi
        fi
    done
}
