#!/bin/sh
# Gets UCX's shared libraries at build time:
#
#   BUILD/natives/linux-x86_64, BUILD/natives/linux-aarch_64
#       the contents of the classifier jars: the libraries, stripped, with an index in sha256sum's format and licences
#   BUILD/ucx/1.22.0/libucx, BUILD/ucx/1.16.0/libucx
#       for the tests and benchmarks on this machine: lib, include, and (1.22.0) bin/ucx_perftest
#
# They come from wheels that pip downloads, pinned by digest, and that are kept in a cache outside the build directory
# (${NETTY_UCX_CACHE}, default ~/.cache/netty-ucx). Without pip, or without a network and a filled cache, it warns and
# succeeds: everything then still builds, and needs a UCX that is installed on the machine to run. In CI (CI=true) that is
# a failure: nearly all tests would be left out.
#
# The libraries are stripped by llvm-strip. Without it they keep their debugging symbols, and in CI that is a failure, too.
#
# usage: fetch-ucx.sh BUILD [offline=true|false]
set -eu

build=$1
offline=${2:-offline=false}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../../..
cache=${NETTY_UCX_CACHE:-${XDG_CACHE_HOME:-${HOME:-$build}/.cache}/netty-ucx}
bundled=1.22.0
oldest=1.16.0

# package version, architecture, pip's platform, digest of the wheel
wheel() {
    case $1-$2 in
        1.22.0-x86_64)  set -- 1.22.0 5cbbef0c140a0a158ae3486089af659b38822b2234cd3dc90ba40a5e6553402a ;;
        1.22.0-aarch64) set -- 1.22.0 269aa884c3f83ced2ffb5f7704fb3a2da56d9402431222ddbe2901c1ae4fb227 ;;
        1.16.0-x86_64)  set -- 1.16.0.post2 cde033822102393ce304063b03f1663122458ecd3d93fecb43c6ceb3988228d4 ;;
        1.16.0-aarch64) set -- 1.16.0.post2 96024c92e19ab432da95bc7bdc6a9789e4be42f167a9517842215091b49de07f ;;
        *) return 1 ;;
    esac
    package=libucx-cu12==$1
    digest=$2
}

case $(uname -m) in
    x86_64 | amd64)  host=x86_64 ;;
    aarch64 | arm64) host=aarch64 ;;
    *)               host=none ;;
esac

# One tool, and one that knows both architectures: another one's libraries are other bytes.
strip=$(llvm-strip --version 2> /dev/null) || strip=none
if [ "$strip" = none ] && [ "${CI:-}" = true ]; then
    echo "[ERROR] [UCX] There is no llvm-strip, which CI has to have: install it (package llvm)." >&2
    exit 1
fi

stamp=$build/ucx-stamp
state=$( (cat "$0" "$root/LICENSE" "$root/NOTICE"; echo "$strip") | cksum)
if [ "$(cat "$stamp" 2> /dev/null)" = "$state" ]; then
    exit 0
fi

work=$build/ucx-work
rm -rf "$work" "$build/natives" "$build/ucx" "$stamp"
# The directories are there even when they stay empty: they are on class paths.
mkdir -p "$work" "$build/natives/linux-x86_64" "$build/natives/linux-aarch_64" "$build/ucx"
trap 'rm -rf "$work"' EXIT
complete=yes

say() {
    echo "[INFO] [UCX] $*"
}

warn() {
    complete=no
    echo "[WARNING] [UCX] $*"
    if [ "${CI:-}" = true ]; then
        echo "[ERROR] [UCX] CI has to have it: see above." >&2
        exit 1
    fi
}

find_pip() {
    for candidate in "python3 -m pip" pip3 pip; do
        if $candidate --version > /dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
    # A Python without pip can often still make an environment that has one.
    if python3 -m venv "$work/venv" > /dev/null 2>&1; then
        echo venv
    fi
}

run_pip() {
    if [ "$pip" = venv ]; then
        "$work/venv/bin/python3" -m pip "$@"
    else
        $pip "$@"
    fi
}

matches() {
    [ -f "$1" ] && echo "$2  $1" | sha256sum --check --status 2> /dev/null
}

# Sets $file to the wheel of a version for an architecture, downloading it if the cache does not have it.
get_wheel() {
    wheel "$1" "$2" || return 1
    if ! command -v python3 > /dev/null 2>&1; then
        problem="there is no python3; install it, and pip (packages python3 and python3-pip)"
        return 1
    fi
    file=$cache/ucx-$1-$2-$digest.whl
    if matches "$file" "$digest"; then
        return 0
    fi
    if [ "$offline" = offline=true ]; then
        problem="the build is offline, and $cache does not have it"
        return 1
    fi
    # What kept pip from the first one would keep it from the others, perhaps after as long a wait.
    [ -z "$pip_failed" ] || return 1
    [ "$pip" != unknown ] || pip=$(find_pip)
    if [ -z "$pip" ]; then
        problem="there is no pip; install it (package python3-pip)"
        return 1
    fi
    say "downloading UCX $1 for $2 into $cache"
    rm -rf "$work/download"
    mkdir -p "$work/download"
    if ! mkdir -p "$cache" 2> /dev/null || [ ! -w "$cache" ]; then
        pip_failed=yes
        problem="cannot write to $cache; set NETTY_UCX_CACHE to another directory"
        return 1
    fi
    echo "$package --hash=sha256:$digest" > "$work/requirements.txt"
    if ! run_pip --quiet --disable-pip-version-check --no-input --retries 2 download --require-hashes --no-deps \
            --only-binary=:all: --platform "manylinux_2_28_$2" --dest "$work/download" \
            --requirement "$work/requirements.txt" > "$work/pip.log" 2>&1; then
        pip_failed=yes
        problem="pip could not download it: $(grep . "$work/pip.log" | tail -n 1)"
        return 1
    fi
    if ! mv "$work/download"/*.whl "$file.$$" || ! mv "$file.$$" "$file"; then
        pip_failed=yes
        problem="cannot write to $cache; set NETTY_UCX_CACHE to another directory"
        return 1
    fi
    if ! matches "$file" "$digest"; then
        problem="$file is not the expected file"
        return 1
    fi
}

# unpack WHEEL DIRECTORY PREFIX...: extracts the members whose names start with one of the prefixes
unpack() {
    python3 - "$@" << 'END'
import os, sys, zipfile
wheel, directory, *prefixes = sys.argv[1:]
with zipfile.ZipFile(wheel) as archive:
    for member in archive.infolist():
        if member.filename.startswith(tuple(prefixes)) and not member.is_dir():
            path = archive.extract(member, directory)
            os.chmod(path, 0o755 if member.external_attr >> 16 & 0o111 else 0o644)
END
}

strip_library() {
    if [ "$strip" = none ]; then
        say "there is no llvm-strip (package llvm): $(basename "$1") for $2 keeps its debugging symbols"
    else
        llvm-strip --strip-unneeded "$1"
    fi
}

# The contents of one classifier jar. The modules for CUDA stay behind: they need libraries of their own.
bundle() {
    architecture=$1
    classifier=$2
    if ! get_wheel $bundled "$architecture"; then
        warn "UCX $bundled for $architecture is not bundled: $problem."
        return
    fi
    unpack "$file" "$work/$architecture" libucx/lib/libucm.so.0 libucx/lib/libucp.so.0 libucx/lib/libucs.so.0 \
        libucx/lib/libuct.so.0 libucx/lib/ucx/libuct_cma.so.0 libucx_cu12-$bundled.dist-info/licenses/
    index=$work/$architecture/META-INF/native/$classifier/ucx
    libraries=$index/$bundled
    mkdir -p "$libraries/ucx"
    for library in libucm.so.0 libucs.so.0 libuct.so.0 libucp.so.0 ucx/libuct_cma.so.0; do
        strip_library "$work/$architecture/libucx/lib/$library" "$architecture"
        mv "$work/$architecture/libucx/lib/$library" "$libraries/$library"
    done
    # The wheel has the licence of its packaging only.
    cp "$here/UCX-LICENSE" "$index/LICENSE"
    cp "$work/$architecture/libucx_cu12-$bundled.dist-info/licenses/LICENSE" "$index/LICENSE.wheel"
    (cd "$index" && sha256sum $bundled/libuc?.so.0 $bundled/ucx/*.so.0 > "$work/SHA256SUMS" && mv "$work/SHA256SUMS" .)
    cp "$root/LICENSE" "$root/NOTICE" "$work/$architecture/META-INF/"
    mv "$work/$architecture/META-INF" "$build/natives/$classifier/"
}

# install_for_tests RELEASE WHAT: an unpacked UCX for this machine's tests, or word of what does without
install_for_tests() {
    if ! get_wheel "$1" $host; then
        [ $host = none ] || warn "$2 are skipped, because UCX $1 is missing: $problem."
        return
    fi
    unpack "$file" "$build/ucx/$1" libucx/include/ libucx/lib/libucm.so.0 libucx/lib/libucp.so.0 \
        libucx/lib/libucs.so.0 libucx/lib/libuct.so.0 libucx/lib/ucx/libuct_cma.so.0 \
        libucx/bin/ucx_perftest libucx/bin/ucx_info libucx_cu12.libs/libgomp
    find "$build/ucx/$1" -name '*.so.0.0.0' -exec rm {} +
}

problem=
pip=unknown
pip_failed=
bundle x86_64 linux-x86_64
bundle aarch64 linux-aarch_64
install_for_tests $bundled "The tests"
install_for_tests $oldest "The tests on the oldest supported release"

if [ $complete = yes ]; then
    echo "$state" > "$stamp"
else
    warn "To have it all, build again with pip and a network. To test on a UCX that is installed on this machine" \
        "($oldest or later), add -Ducx.test.library=system."
fi
