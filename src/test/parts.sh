# Runs the parts of a test run and remembers of each how long it took, how many tests it ran and
# whether it passed. Source it after setting $root.
# shellcheck shell=bash

# One line per part: lane, name, seconds, tests, skipped, result. A script that this one starts and
# that has parts itself adds its own.
parts_results=${TAKO_TEST_RESULTS:-$(mktemp)}
declare -A parts_running=()

# A background job gets a process group of its own, so that it can be ended with all it started.
set -m
trap parts_end EXIT
trap 'parts_interrupted 130' INT
trap 'parts_interrupted 143' TERM

# Runs a command as one part; false when it failed.
run_part() { # lane, name, command...
  local lane=$1 name=$2 log began=$SECONDS result=passed
  shift 2
  log=$(mktemp)
  printf '\n== %s\n' "$name"
  (set -o pipefail; "$@" 2>&1 </dev/null | tee "$log") &
  local group=$!
  parts_running[$group]=$name
  wait "$group" || result=FAILED
  unset "parts_running[$group]"
  note_part "$lane" "$name" $((SECONDS - began)) "$log" "$result"
  [ "$result" = passed ] || note_failures "$name" "$log"
  rm "$log"
  [ "$result" = passed ]
}

# For what is not a command here, or did not run.
note_part() { # lane, name, seconds, log, result
  local tests
  tests=$(count_tests "$4")
  printf '%s|%s|%s|%s|%s\n' "$1" "$2" "$3" "$tests" "$5" >>"$parts_results"
}

# Keeps what Maven, JUnit's console and CTest say of tests that failed, or else the last lines.
# JUnit's console lists them at the end, with the messages that do not fit in its tree.
note_failures() { # name, log
  local said
  said=$(awk '
    /^Failures \([0-9]+\):/ { listing = 1 }
    /^Test run finished/ { listing = 0 }
    /\[X\]/ || /^\[ERROR\]  / || /\*\*\*(Failed|Exception|Timeout)/
    listing && !/^       /' "$2" | head -60) || true
  printf '\n%s:\n%s\n' "$1" "${said:-$(tail -20 "$2")}" >>"$parts_results.failures"
}

# Tests run and skipped according to the last words of Maven, JUnit's console and CTest.
count_tests() { # log
  awk '
    /Tests run: [0-9]+, Failures: [0-9]+, Errors: [0-9]+, Skipped: [0-9]+$/ {
      match($0, /Tests run: [0-9]+/); ran += substr($0, RSTART + 11, RLENGTH - 11)
      match($0, /Skipped: [0-9]+$/); skipped += substr($0, RSTART + 9)
    }
    /^\[ +[0-9]+ tests (found|skipped|aborted) +\]$/ {
      if ($4 == "found") ran += $2; else skipped += $2
    }
    /tests passed, [0-9]+ tests failed out of [0-9]+/ { ran += $NF }
    END { print ran + 0 "|" skipped + 0 }' "$1"
}

# Prints what failed, then the table; false when there is no part or one that failed.
print_parts() {
  cat "$parts_results.failures" 2>/dev/null || true
  printf '\n%-8s %-58s %7s %6s %8s  %s\n' lane part time tests skipped result
  awk -F'|' '
    {
      printf "%-8s %-58s %4d:%02d %6d %8d  %s\n", $1, $2, $3 / 60, $3 % 60, $4, $5, $6
      ran += $4; skipped += $5; failed += $6 == "FAILED"
    }
    END {
      printf "%-67s %7s %6d %8d\n", "all", "", ran, skipped
      exit NR == 0 || failed > 0
    }' "$parts_results"
}

# Ends everything that still runs.
parts_end() {
  trap '' INT TERM
  parts_signal TERM
  # A virtual machine and YARN's daemons end in less; a script in a script has to be the quicker.
  local tries=100
  [ -z "${TAKO_TEST_RESULTS:-}" ] || tries=50
  while [ ${#parts_running[@]} -gt 0 ] && jobs -r -p | grep -q . && [ $((tries--)) -gt 0 ]; do
    sleep 0.2
  done
  parts_signal KILL
  [ -n "${TAKO_TEST_RESULTS:-}" ] || rm -f "$parts_results" "$parts_results.failures"
}

parts_signal() { # signal
  local group
  for group in "${!parts_running[@]}"; do
    kill -"$1" -- "-$group" 2>/dev/null || true
  done
}

parts_interrupted() { # exit status
  echo "interrupted: ending what runs" >&2
  exit "$1"
}
