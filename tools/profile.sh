#!/usr/bin/env bash
# Builds railyard for speed: first a build that counts, with which some labs of tests/bench/ are run, then the release build,
# optimised for what was counted. Up to 17 % faster (tests/bench/README.md); takes a little longer than a build. Results are the same.
#
# usage: tools/profile.sh
#   The program is build/profiled/bin/railyard. The profile holds for these sources: run it again after a change.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"
(( $# == 0 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
install_packages "${packages_build[@]}" "${packages_profile[@]}"

# Both in one folder: only dataplane/ and transports/ are compiled twice.
build_with() { # PROFILE
  local log
  log=$(mktemp)
  (cd "$root" && cmake --preset release -B build/profiled -DRAILYARD_TESTS=OFF -DRAILYARD_BENCH=OFF -DRAILYARD_HEADERS=OFF \
    -DRAILYARD_PROFILE="$1") >"$log" 2>&1 || { cat "$log" >&2; rm -f "$log"; die "cmake could not configure build/profiled"; }
  rm -f "$log"
  build profiled railyard
}

say "a build that counts"
build_with generate
counts=$(mktemp -d "${TMPDIR:-/tmp}/railyard-profile.XXXXXX")
trap 'rm -rf -- "$counts"' EXIT
# What is counted: the generator, both transports, lossless and trimmed classes, large fabrics and faults.
bench=$root/tests/bench
runs=("permutation-128.yaml --duration 1ms" "incast-128.yaml --duration 5ms" "everything-128.yaml --duration 1ms"
  "roce-128.yaml --duration 500us" "roce-128.yaml --duration 500us --set traffic.permutation.transport=uet"
  "roce-1024.yaml --duration 50us" "fat-tree-1024.yaml --duration 20us" "roce-recovery.yaml" "pair.yaml --duration 2ms")
for run in "${runs[@]}"; do
  say "$run"
  # shellcheck disable=SC2086  # words
  LLVM_PROFILE_FILE="$counts/%p.profraw" "$root/build/profiled/bin/railyard" run "$bench/"$run --quiet >/dev/null
done
llvm-profdata-19 merge -o "$root/build/railyard.profdata" "$counts"/*.profraw

say "the build for what was counted"
build_with "$root/build/railyard.profdata"
printf 'build/profiled/bin/railyard is ready.\n'
