#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Compares transports, after building what has changed since the last time. 'jmh' as the first argument runs the
# microbenchmarks instead, with JMH's own arguments.
set -euo pipefail

root_directory() { # Not by cd: file names among the arguments are relative to where the user is.
  (cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
}
ROOT=$(root_directory)
readonly ROOT
readonly MODULE=jmh
readonly MODULES=(transport-ucx-native transport-ucx messaging examples jmh)
# shellcheck source=launch.sh
source "$ROOT/launch.sh"

jvm_options=("-Dio.github.nettyucx.benchmark.ucx=$ROOT/transport-ucx-native/target/ucx/1.22.0/libucx")
while [[ ${1:-} == -[DXa]* || ${1:-} == --add-* ]]; do
  jvm_options+=("$1")
  shift
done
if [[ ${1:-} == jmh ]]; then
  shift
  run_java org.openjdk.jmh.Main "$@"
fi
run_java io.github.nettyucx.benchmark.Benchmark "$@"
