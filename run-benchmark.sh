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

# Whether the command, with these arguments, starts unmodified applications: that one work does, and all.
starts_applications() {
  local only= argument before=
  case ${1:-all} in
    all | applications) ;;
    *) return 1 ;;
  esac
  for argument; do
    case $argument in
      -h | --help) return 1 ;;
      --only=*) only+=,${argument#--only=} ;;
    esac
    [[ $before != --only ]] || only+=,$argument
    before=$argument
  done
  # Blanks around a comma are none of a name; Java takes them off, too.
  only=${only//[[:space:]]/}
  only=${only:-applications}
  [[ ,${only,,}, == *,applications,* ]]
}

# Apache Ratis and the application of it, which a test has. Adds to jvm_options where these are, and where the agent is.
build_applications() {
  local class_path="$ROOT/integration/target/applications.classpath" stamp="$ROOT/integration/target/applications.stamp"
  local inputs=("$ROOT/pom.xml" "$ROOT/integration/pom.xml" "$ROOT/integration/src/test")
  build_agent
  if [[ ! -s $class_path || ! -e $stamp || -n $(find "${inputs[@]}" -newer "$stamp" -print -quit) ]]; then
    echo 'Building the applications ...' >&2
    mkdir -p "$ROOT/integration/target"
    touch "$stamp.new"
    (cd "$ROOT" && mvn -q -B -pl integration -am -DskipTests -Dnetty.suite.skip=true -Dmaven.javadoc.skip=true \
        -Dmdep.outputFile=target/applications.classpath -DincludeScope=test package dependency:build-classpath) 2>&1 < /dev/null |
      without_colours >&2 || fail 'the build failed; what Maven said is above.'
    mv "$stamp.new" "$stamp"
  fi
  jvm_options+=("-Dio.github.nettyucx.benchmark.agent=$agent_jar"
    "-Dio.github.nettyucx.benchmark.applications=$ROOT/integration/target")
}

jvm_options=("-Dio.github.nettyucx.benchmark.ucx=$ROOT/transport-ucx-native/target/ucx/1.22.0/libucx")
take_jvm_options "$@"
shift "$taken"
if [[ ${1:-} == jmh ]]; then
  shift
  run_java org.openjdk.jmh.Main "$@"
fi
if starts_applications "$@"; then
  build_applications
fi
run_java io.github.nettyucx.benchmark.Benchmark "$@"
