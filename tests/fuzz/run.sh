#!/usr/bin/env bash
# Builds the fuzzers with clang and lets each look for its share of the seconds, beginning with the committed corpus.
#
# usage: tests/fuzz/run.sh SECONDS
#   Exit code 0: nothing found. Otherwise the inputs that crash are named, with the command that shows the crash again.
#   What reaches new code is kept in build/fuzz/found/ and used the next time; what is worth it goes into the corpus.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/common.sh"

[[ ${1:-} =~ ^[1-9][0-9]*$ && $# == 1 ]] || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
seconds=$1
here=$root/tests/fuzz
out=$root/build/fuzz

# A target per <name>_fuzz.cc, with its corpus in corpus/<name>/.
names=()
for source in "$here"/*_fuzz.cc; do names+=("$(basename "$source" _fuzz.cc)"); done
share=$(( seconds / ${#names[@]} ))
(( share > 0 )) || die "$seconds seconds are too few for ${#names[@]} fuzzers; at least one each, please"

if ! command -v clang++-19 >/dev/null || (( $(missing_packages "${packages_clang[@]}" | wc -l) )); then
  install_packages "${packages_clang[@]}"
fi

if [[ ! -f $out/build.ninja ]]; then
  log=$(mktemp)
  cmake -S "$root" -B "$out" -G Ninja -DCMAKE_C_COMPILER=clang-19 -DCMAKE_CXX_COMPILER=clang++-19 \
    -DRAILYARD_FUZZ=ON -DRAILYARD_TESTS=OFF -DRAILYARD_BENCH=OFF >"$log" 2>&1 || { cat "$log" >&2; die "cmake could not configure $out"; }
  rm -f "$log"
fi
build fuzz "${names[@]/%/_fuzz}"

crashed=()
for name in "${names[@]}"; do
  [[ -d $here/corpus/$name ]] || die "there is no corpus for ${name}_fuzz: $here/corpus/$name"
  found=$out/found/$name
  crashes=$out/crashes/$name
  log=$out/$name.log
  rm -rf "$crashes"
  mkdir -p "$found" "$crashes"
  if "$out/bin/${name}_fuzz" -max_total_time="$share" -timeout=10 -print_final_stats=1 -artifact_prefix="$crashes/" \
      "$found" "$here/corpus/$name" >"$log" 2>&1; then
    printf '%s: %s inputs in %s s, nothing found\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$share"
  else
    tail -n 40 "$log" >&2
    for input in "$crashes"/*; do
      [[ -e $input ]] || input="(no input was written; see $log)"
      printf 'error: %s: crashes with %s\n' "$name" "$input" >&2
      printf '       again: %s %s\n' "$out/bin/${name}_fuzz" "$input" >&2
    done
    crashed+=("$name")
  fi
done
(( ${#crashed[@]} == 0 ))
