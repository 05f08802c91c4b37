#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs one of the examples, after building what has changed since the last time.
set -euo pipefail

# name | main class | what it shows | "plain" if it takes no arguments
EXAMPLES=(
  'ping-pong|io.github.nettyucx.examples.pingpong.PingPong|round trip times of UCX and other transports, compared|'
  'echo|io.github.nettyucx.examples.echo.Echo|standard input to a server and back|'
  'grpc|io.github.nettyucx.examples.grpc.GrpcCalls|gRPC over UCX and over its own transport, checked and compared|'
  'http|io.github.nettyucx.examples.http.Http|files and a WebSocket by HTTP/1.1 and HTTP/2, checked|'
  'transparent|io.github.nettyucx.examples.transparent.Transparent|examples of Netty itself, unmodified, with the agent and without|'
  'log|io.github.nettyucx.examples.log.RecordLog|a log of records, produced and consumed by message and through memory|'
  'info|io.github.nettyucx.examples.info.Info|what a bug report needs: UCX, machine, settings, lanes|'
  'ucp-tag|io.github.nettyucx.examples.ucp.TagDemo|UCX without Netty: messages with tags|plain'
  'ucp-stream|io.github.nettyucx.examples.ucp.StreamDemo|UCX without Netty: a byte stream|plain'
  'ucp-active-message|io.github.nettyucx.examples.ucp.ActiveMessageDemo|UCX without Netty: messages that call a handler|plain'
  'ucp-remote-memory|io.github.nettyucx.examples.ucp.RemoteMemoryDemo|UCX without Netty: put and get|plain'
  'ucp-atomic|io.github.nettyucx.examples.ucp.AtomicDemo|UCX without Netty: atomics in remote memory|plain'
)
root_directory() { # Not by cd: file names among the arguments are relative to where the user is.
  (cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")" && pwd)
}
ROOT=$(root_directory)
readonly ROOT
readonly MODULE=examples
readonly MODULES=(transport-ucx-native transport-ucx examples)
# shellcheck source=launch.sh
source "$ROOT/launch.sh"

list_examples() {
  echo 'Usage: ./run-example.sh [JVM OPTION]... NAME [ARGUMENT]...'
  echo
  echo 'Examples:'
  local entry name description
  for entry in "${EXAMPLES[@]}"; do
    IFS='|' read -r name _ description _ <<< "$entry"
    printf '  %-19s %s\n' "$name" "$description"
  done
  echo
  echo "'./run-example.sh NAME --help' tells what an example can do."
}

# Sets main_class, description and plain to those of the example with that name.
find_example() {
  local entry name
  for entry in "${EXAMPLES[@]}"; do
    IFS='|' read -r name main_class description plain <<< "$entry"
    [[ $name != "$1" ]] || return 0
  done
  return 1
}

jvm_options=()
take_jvm_options "$@"
shift "$taken"
name=${1:-}
case $name in
  '')
    list_examples
    exit 2
    ;;
  -h | --help | help)
    list_examples
    exit 0
    ;;
esac
if ! find_example "$name"; then
  echo "$SCRIPT: there is no example named '$name'." >&2
  list_examples >&2
  exit 2
fi
shift
if [[ -n $plain && $# -gt 0 ]]; then
  case $1 in
    -h | --help)
      echo "Usage: ./run-example.sh $name"
      echo "Shows $description. There is nothing to choose."
      exit 0
      ;;
    *)
      fail "$name takes no arguments, but '$1' was given." 2
      ;;
  esac
fi

# Brokers that are shown together have Raft's connections go over this transport, too.
if [[ $name == transparent || ($name == log && " $* " == *' --demo '*) ]]; then
  build_agent
  jvm_options+=("-Dio.github.nettyucx.examples.agent=$agent_jar")
fi
run_java "$main_class" "$@"
