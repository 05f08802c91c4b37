# SPDX-License-Identifier: Apache-2.0
#
# What run-example.sh and run-benchmark.sh have in common: they find a Java, build what has changed, and start a class.
# Before sourcing it, set ROOT, and MODULE, the directory with the main class; MODULES are those that it is built of.

readonly REQUIRED_JAVA=25
readonly JVM_FLAGS=(--enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow)
readonly SCRIPT=${0##*/}
readonly CLASSES="$ROOT/$MODULE/target/classes"
readonly CLASSPATH_FILE="$ROOT/$MODULE/target/${SCRIPT%.sh}.classpath"
# Its time says when UCX was last looked for in vain.
readonly FETCHED="$ROOT/transport-ucx-native/target/ucx-tried"
# Its time says when the last build that succeeded began.
readonly STAMP="$ROOT/$MODULE/target/${SCRIPT%.sh}.stamp"

fail() {
  echo "$SCRIPT: $1" >&2
  exit "${2:-1}"
}

# Adds to jvm_options those of the arguments that come first and are for the JVM. Sets taken to how many these are.
take_jvm_options() {
  taken=0
  while (($# > 0)); do
    case $1 in
      -D* | -X* | -agentlib:* | -agentpath:* | -javaagent:* | --add-* | --enable-*) ;;
      -ea | -ea:* | -enableassertions* | -da | -da:* | -disableassertions*) ;;
      -esa | -enablesystemassertions | -dsa | -disablesystemassertions | -verbose | -verbose:*) ;;
      *) return 0 ;;
    esac
    jvm_options+=("$1")
    taken=$((taken + 1))
    shift
  done
}

# --- Java ---

# The feature version of the Java installation in directory $1, or nothing.
java_version_of() {
  local version=
  [[ -x $1/bin/java ]] || return 0
  if [[ -r $1/release ]]; then
    version=$(sed -n 's/^JAVA_VERSION="\{0,1\}\([0-9]*\).*/\1/p' "$1/release")
  fi
  if [[ -z $version ]]; then
    version=$("$1/bin/java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p' | head -n 1)
  fi
  echo "$version"
}

is_new_enough() {
  local version
  version=$(java_version_of "$1")
  [[ -n $version && $version -ge $REQUIRED_JAVA ]]
}

# The Java installation behind the java command. Asked, not derived from its path: what is found there may be a shim.
java_home_on_path() {
  if command -v java > /dev/null; then
    java -XshowSettings:properties -version 2>&1 | sed -n 's/^ *java\.home = //p'
  fi
}

# Prints the directory of a Java installation that is new enough.
find_java() {
  local home
  for home in "${JAVA_HOME:-}" "$(java_home_on_path)" \
      /usr/lib/jvm/* "${HOME:-}"/.sdkman/candidates/java/* "${HOME:-}"/.jdks/*; do
    if [[ -n $home ]] && is_new_enough "$home"; then
      echo "$home"
      return
    fi
  done
  return 1
}

# --- Build ---

# Everything that a build reads; a directory's own time changes when a file in it comes or goes.
build_inputs() {
  local path
  echo "$ROOT/pom.xml"
  for path in "${MODULES[@]/%//pom.xml}" "${MODULES[@]/%//src/main}" "${MODULES[@]/%//src/build}"; do
    [[ ! -e $ROOT/$path ]] || echo "$ROOT/$path"
  done
}

is_stale() {
  local inputs entry entries
  [[ -e $STAMP && -s $CLASSPATH_FILE && -d $CLASSES ]] || return 0
  mapfile -t inputs < <(build_inputs)
  [[ -z $(find "${inputs[@]}" -newer "$STAMP" -print -quit) ]] || return 0
  IFS=: read -r -a entries < "$CLASSPATH_FILE" || true
  for entry in "${entries[@]}"; do
    [[ -e $entry ]] || return 0
  done
  return 1
}

# Maven resets the terminal's colours even when it used none.
without_colours() {
  sed 's/\x1b\[[0-9;]*m//g; /^$/d'
}

# What is given to the script is for what it starts: Maven would read of it.
build() {
  command -v mvn > /dev/null || fail 'there is no Maven (mvn) on the PATH. Install Maven 3.8 or later.'
  echo 'Building what has changed ...' >&2
  touch "$STAMP.new"
  # The file name is relative: each module writes a class path of its own, and the one of MODULE is used.
  (cd "$ROOT" && mvn -q -B -pl "$MODULE" -am -Dmaven.test.skip=true \
      -Dmdep.outputFile="target/$(basename "$CLASSPATH_FILE")" -DincludeScope=runtime \
      compile dependency:build-classpath) 2>&1 < /dev/null | without_colours >&2 ||
    fail 'the build failed; what Maven said is above.'
  mv "$STAMP.new" "$STAMP"
}

# UCX could not be downloaded when that was built. It may be possible now, and nothing of what Maven looks at has changed. Tried
# once an hour: where it cannot be had, that takes its time.
is_without_ucx() {
  [[ -z $(find "$(natives)" -name SHA256SUMS 2> /dev/null) && -z $(find "$FETCHED" -mmin -60 2> /dev/null) ]]
}

fetch_ucx() {
  mkdir -p "${FETCHED%/*}" && touch "$FETCHED" || true
  sh "$ROOT/transport-ucx-native/src/build/fetch-ucx.sh" "$ROOT/transport-ucx-native/target" < /dev/null >&2 || true
}

build_if_stale() {
  is_stale || is_without_ucx || return 0
  mkdir -p "$(dirname "$STAMP")"
  if command -v flock > /dev/null; then
    # Server and client are often started at the same time, in two terminals.
    exec 9> "$STAMP.lock"
    flock 9
    build_what_is_missing
    exec 9>&-
  else
    build_what_is_missing
  fi
}

build_what_is_missing() {
  if is_stale; then
    build
  elif is_without_ucx; then
    fetch_ucx
  fi
}

# The agent is a jar, which the build of MODULE does not make. Sets agent_jar.
build_agent() {
  local modules=(transport-ucx-native transport-ucx transport-ucx-io agent) module index
  local inputs=("$ROOT/pom.xml" "$ROOT/transport-ucx-native/src/build")
  for module in "${modules[@]}"; do
    inputs+=("$ROOT/$module/pom.xml" "$ROOT/$module/src/main")
  done
  if is_without_ucx; then
    fetch_ucx
  fi
  # UCX, which is in the jar.
  index=$(find "$(natives)" -name SHA256SUMS 2> /dev/null || true)
  [[ -z $index ]] || inputs+=("$index")
  find_agent
  if [[ -z $agent_jar || -n $(find "${inputs[@]}" -newer "$agent_jar" -print -quit) ]]; then
    command -v mvn > /dev/null || fail 'there is no Maven (mvn) on the PATH. Install Maven 3.8 or later.'
    echo 'Building the agent ...' >&2
    (cd "$ROOT" && mvn -q -B -pl agent -am -DskipTests -Dnetty.suite.skip=true -Dmaven.javadoc.skip=true package) 2>&1 < /dev/null |
      without_colours >&2 || fail 'the build failed; what Maven said is above.'
    find_agent
    # Maven leaves a jar as it is whose contents are the same.
    touch "$agent_jar"
  fi
}

# The newest: there are several after a change of the version.
find_agent() {
  agent_jar=$(find "$ROOT/agent/target" -maxdepth 1 -name 'netty-ucx-agent-*.jar' ! -name '*-sources.jar' \
    ! -name '*-javadoc.jar' -printf '%T@ %p\n' 2> /dev/null | sort -rn | sed -n '1s/^[^ ]* //p' || true)
}

# --- Run ---

# The directory from which the jar with UCX for this machine is made; it is empty where UCX could not be downloaded.
natives() {
  local machine
  machine=$(uname -m)
  echo "$ROOT/transport-ucx-native/target/natives/linux-${machine/aarch/aarch_}"
}

# Replaces this script by the main class $1, with the other arguments and jvm_options.
run_java() {
  local java_home main_class=$1
  shift
  java_home=$(find_java) ||
    fail "there is no Java $REQUIRED_JAVA or later in JAVA_HOME, on the PATH, in /usr/lib/jvm, ~/.sdkman or ~/.jdks.
Install a JDK $REQUIRED_JAVA, or set JAVA_HOME to where one is."
  build_if_stale
  exec "$java_home/bin/java" "${JVM_FLAGS[@]}" ${jvm_options[@]+"${jvm_options[@]}"} \
    -cp "$CLASSES:$(natives):$(cat "$CLASSPATH_FILE")" "$main_class" "$@"
}
