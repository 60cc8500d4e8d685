# shellcheck shell=bash
# Which Java runs Spark 4.1: 17 to 23, with the module jdk.incubator.vector.
# From 24 on, Hadoop's login and Arrow's memory access fail; trimmed runtimes (those on PyPI) lack the module.

JAVA_ADVICE='Spark needs Java 17 to 23, and none was found in JAVA_HOME, on PATH or in the usual folders. Install one (Debian, Ubuntu: sudo apt-get install openjdk-17-jre-headless; macOS: brew install openjdk@17), or set JAVA_HOME, then run this again.'

# The home of the first Java that will do, or nothing.
find_java() {
  local java home
  while IFS= read -r java; do
    [ -x "$java" ] || continue
    home=$(home_of_suitable_java "$java")
    [ -z "$home" ] || break
  done < <(java_candidates)
  printf '%s' "${home:-}"
}

java_candidates() {
  local root=${HOME:-/nonexistent}
  [ -z "${JAVA_HOME:-}" ] || printf '%s\n' "$JAVA_HOME/bin/java"
  command -v java || true
  printf '%s\n' /usr/lib/jvm/*/bin/java /usr/java/*/bin/java /opt/java/*/bin/java /opt/jdk*/bin/java
  printf '%s\n' {/opt/homebrew,/usr/local,/home/linuxbrew/.linuxbrew}/opt/openjdk*/bin/java
  printf '%s\n' {,"$root"}/Library/Java/JavaVirtualMachines/*/Contents/Home/bin/java
  printf '%s\n' "$root"/.sdkman/candidates/java/*/bin/java "$root"/.jdks/*/bin/java
  printf '%s\n' "$root"/.asdf/installs/java/*/bin/java "$root"/.local/share/mise/installs/java/*/bin/java
}

# Ask the Java itself: a version it does not start with, or a module it lacks, shows here and not in Spark.
home_of_suitable_java() {
  { "$1" --add-modules jdk.incubator.vector -XshowSettings:properties -version 2>&1 || true; } | awk -F ' = ' '
    / java\.home = / { home = $2 }
    / java\.specification\.version = / { version = $2 }
    END { if (version >= 17 && version < 24) print home }'
}

install_java() {
  apt_install openjdk-17-jre-headless openjdk-21-jre-headless || brew_install openjdk@17 || die "$JAVA_ADVICE"
}
