# Shared by the scripts here. Source it after setting $root.
# shellcheck shell=bash

# Runs a command as root, if the caller may.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi
}

# Installs the Debian packages named that are missing; says which when the caller may not.
need_packages() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  echo "installing: ${missing[*]}"
  if as_root apt-get update -qq &&
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null; then
    return 0
  fi
  echo "could not install ${missing[*]}: install them yourself and run this again" >&2
  return 1
}

# Installs Debian packages for a part that can be left out; says so, and is false, where it must be.
want_packages() { # what they are for, packages
  local purpose=$1
  shift
  need_packages "$@" || {
    echo "left out: $purpose" >&2
    return 1
  }
}

# A JDK of at least 17 and Maven: found where they are, else installed.
need_java() {
  command -v mvn >/dev/null || need_packages maven || return 1
  if ! java_is_new_enough; then
    need_packages openjdk-17-jdk-headless || return 1
    java_is_new_enough || {
      echo "java is older than 17: put a newer JDK first on PATH or in JAVA_HOME" >&2
      return 1
    }
  fi
}

java_is_new_enough() {
  local javac=${JAVA_HOME:+$JAVA_HOME/bin/}javac
  command -v "$javac" >/dev/null || return 1
  [ "$("$javac" -version 2>&1 | sed -E 's/^javac ([0-9]+).*/\1/')" -ge 17 ]
}

# The directory of an installed Java of one version.
jdk_home() { # version
  local release
  release=$(grep -ls "^JAVA_VERSION=\"$1[.\"]" /usr/lib/jvm/*/release | head -1)
  [ -n "$release" ] && dirname "$release"
}

# Maven without colours and progress bars, in the project's root.
maven() {
  (cd "$root" && mvn -B -ntp "$@")
}
