#!/usr/bin/env bash
# Builds the fuzzers with clang and lets each look for its share of the seconds, beginning with the committed corpus; as
# many at a time as there are processors.
#
# usage: tests/fuzz/run.sh SECONDS
#   SECONDS of all fuzzers together: of 198, 30 go to what parses frames, 30 to RoCEv2's receive path, 56 to UET's, 18 to
#   what applications send the daemon, and it them, 43 to the API.
#   Exit code 0: nothing found. Otherwise the inputs that crash are named, with the command that shows the crash again.
#   What reaches new code is kept in build/fuzz/found/ and used the next time; what is worth it goes into the corpus.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/common.sh"

[[ ${1:-} =~ ^[1-9][0-9]*$ && $# == 1 ]] || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0" >&2; exit 2; }
seconds=$1
here=$root/tests/fuzz
out=$root/build/fuzz

# Of 198 seconds.
declare -A weights=(
  [parse_frame]=17 [pfc]=3 [quality_report]=2 [credit_message]=2 [trunk_fragment]=3 [trunk_message]=3
  [roce_packet]=6 [roce_engine]=20 [cm_mad]=4
  [frame_ring]=2 [application_message]=1 [application_ring]=2 [application_port]=6 [shared_gsi]=4 [uet_processes]=3
  [uet_frame]=10 [uet_packet]=10 [uet_engine]=36
  [fault_text]=5
  [goal]=4 [simai]=4 [nccl_log]=4 [chakra]=4
  [http_request]=28 [api_body]=15)

# A target per <name>_fuzz.cc, with its corpus in corpus/<name>/.
names=()
total=0
for source in "$here"/*_fuzz.cc; do
  name=$(basename "$source" _fuzz.cc)
  [[ -n ${weights[$name]:-} ]] || die "$name has no share of the seconds; give it one in ${BASH_SOURCE[0]}"
  [[ -d $here/corpus/$name ]] || die "there is no corpus for ${name}_fuzz: $here/corpus/$name"
  names+=("$name")
  total=$(( total + weights[$name] ))
done
(( seconds >= total / 3 )) || die "$seconds seconds are too few for ${#names[@]} fuzzers; $(( total / 3 )) at least, please"

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

# Looks for what crashes one; says what it did. 1: something does.
look() { # NAME
  local name=$1 share=$(( seconds * weights[$1] / total )) input
  (( share > 0 )) || share=1  # to libFuzzer 0 is for ever
  local found=$out/found/$name crashes=$out/crashes/$name log=$out/$name.log
  rm -rf "$crashes"
  mkdir -p "$found" "$crashes"
  if "$out/bin/${name}_fuzz" -max_total_time="$share" -timeout=10 -print_final_stats=1 -artifact_prefix="$crashes/" \
      "$found" "$here/corpus/$name" >"$log" 2>&1; then
    printf '%s: %s inputs in %s s, nothing found\n' "$name" \
      "$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")" "$share"
    return 0
  fi
  tail -n 40 "$log" >&2
  for input in "$crashes"/*; do
    [[ -e $input ]] || input="(no input was written; see $log)"
    printf 'error: %s: crashes with %s\n' "$name" "$input" >&2
    printf '       again: %s %s\n' "$out/bin/${name}_fuzz" "$input" >&2
  done
  return 1
}

# The longest first, so that none is left alone in the end.
mapfile -t names < <(for name in "${names[@]}"; do printf '%s %s\n' "${weights[$name]}" "$name"; done | sort -rn | cut -d' ' -f2)
crashed=0
most=$(jobs)
running=0
for name in "${names[@]}"; do
  if (( running == most )); then wait -n || crashed=1; running=$(( running - 1 )); fi
  look "$name" &
  running=$(( running + 1 ))
done
while (( running )); do wait -n || crashed=1; running=$(( running - 1 )); done
exit "$crashed"
