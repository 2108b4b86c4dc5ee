#!/usr/bin/env bash
# Installs missing packages, builds, and runs the tests.
#
# usage: tools/test.sh [--fast | --all]
#   --fast   the edit loop: dev build, unit tests and scenarios
#   (none)   what CI runs: release build and all tests, 1,000 random labs with faults, instructions per
#            packet-hop, tests of the dataplane and of guests under AddressSanitizer and UBSan, a minute of fuzzing, SoftRoCE guests through the fabric, live labs
#   --all    the same and the long runs: every test under AddressSanitizer and UBSan, and as g++ compiles it,
#            ThreadSanitizer, 20 minutes of fuzzing, big sweeps, every SoftRoCE script, endurance of live labs, planted
#            bugs, benchmarks
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

mode=${1:-ci}
case $mode in ci|--fast|--all) ;; *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;; esac

failed=()
skipped=()
started=$SECONDS
# NAME COMMAND...: runs a step in a subshell, so that a failed build ends only the step. Status 77: skipped, with a reason
# on standard output.
step() {
  local name=$1 began=$SECONDS; shift
  say "$name"
  local status=0
  ("$@") || status=$?
  if (( status == 0 )); then
    printf -- '--- %s: ok (%d s)\n' "$name" $((SECONDS - began))
  elif (( status == 77 )); then
    skip "$name"
  else
    printf -- '--- %s: FAILED (%d s)\n' "$name" $((SECONDS - began))
    failed+=("$name")
  fi
}
skip() { say "skipped: $*"; skipped+=("$*"); }
ctests() { # PRESET [CTEST ARGUMENT...]
  local preset=$1 status=0; shift
  local log=$root/build/$preset/Testing/Temporary/LastTest.log
  # One more than processors: many tests wait.
  ctest --test-dir "$root/build/$preset" -j $(( $(jobs) + 1 )) --output-on-failure --progress "$@" | tail -n 40 || status=$?
  (( status == 0 )) || grep -A8 ': Failure$' "$log" | head -n 100 || true
  # Tests that were not made, by their reasons: the last line between "Skipped" and the test's end.
  awk '/: Skipped$/ { reason = "no reason"; skipped = 1; next }
       /^\[  SKIPPED \].* ms\)$/ { print reason "\t" $4; skipped = 0 }
       skipped { reason = $0 }' "$log" | sort |
    awk -F'\t' '$1 != reason { if (n) print n " tests: " reason ": " names; reason = $1; n = 0; names = "" }
                { names = names (n++ ? ", " : "") $2 } END { if (n) print n " tests: " reason ": " names }' | sed 's/^/skipped: /'
  return "$status"
}
one_of() { (IFS='|'; printf '^(%s)$' "$*"); }  # TEST...: for ctest -R
finish() {
  printf '\n'
  for s in "${skipped[@]+"${skipped[@]}"}"; do printf 'skipped: %s\n' "$s"; done
  if (( ${#failed[@]} )); then
    printf 'FAILED after %d s: %s\n' $((SECONDS - started)) "${failed[*]}"
    exit 1
  fi
  printf 'All tests passed in %d s.\n' $((SECONDS - started))
}

install_packages "${packages_build[@]}" "${packages_test[@]}"

if [[ $mode == --fast ]]; then
  configure dev -DRAILYARD_BENCH=OFF
  step "build (dev)" build dev
  step "tests (dev)" ctests dev -LE long
  finish
  exit
fi

install_packages "${packages_clang[@]}" "${packages_softroce[@]}" "${packages_wireshark[@]}" "${packages_frr[@]}" "${packages_verbs[@]}" \
  "${packages_libfabric[@]}" "${packages_package[@]}" "${packages_python[@]}" "${packages_web[@]}" "${packages_prometheus[@]}" "${packages_valgrind[@]}"
command -v npm >/dev/null || install_packages "${packages_node[@]}"

long=$([[ $mode == --all ]] && echo ON || echo OFF)
configure release -DRAILYARD_TESTS=ON -DRAILYARD_BENCH="$long" -DRAILYARD_HEADERS="$long"
step "build (release)" build release
step "tests (release)" ctests release -LE long
# Within four minutes, as promised.
step "swarm" timeout 240 "$root/build/release/bin/railyard" swarm --seeds 1-1000 --bars

step "instructions per packet-hop" "$root/tests/bench/instructions.py"

# With --all each source is compiled separately, to find headers that do not compile alone.
configure asan -DRAILYARD_BENCH=OFF -DRAILYARD_TOGETHER="$([[ $mode == --all ]] && echo OFF || echo ON)"
# Tests of the code that parses external input and handles packets; with --all every test.
# Faults as text, and the decoders of RoCEv2 and UET, are fuzzed under it below.
sanitized=(base_test wire_test packet_test device_test switch_test nic_test trunk_test port_test capture_test run_test
  guest_test)
if [[ $mode == --all ]]; then
  step "build (asan + ubsan)" build asan
  step "tests (asan + ubsan)" ctests asan -LE long
else
  step "build (asan + ubsan)" build asan "${sanitized[@]}"
  step "tests (asan + ubsan)" ctests asan -R "$(one_of "${sanitized[@]}")"
fi

step "fuzzing" "$root/tests/fuzz/run.sh" "$([[ $mode == --all ]] && echo 1200 || echo 66)"

all=()
[[ $mode == --all ]] && all=(--all)
step "one lab in several processes" "$root/tests/processes/run.sh" "${all[@]+"${all[@]}"}"
step "installed tree" "$root/tests/install/run.sh"
step "the README's commands" "$root/tests/readme/run.sh"
step "docs/python.md" "$root/tests/docs/python.sh"
step "tutorials and pages of docs/" "$root/tests/docs/pages.py" "${all[@]+"${all[@]}"}"
step "the live page in a browser" "$root/tests/web/run.sh" "${all[@]+"${all[@]}"}"
incidents=(--seeds 1 --healthy 10 --pairs 5)
[[ $mode == --all ]] && incidents=(--seeds 20 --healthy 200 --pairs 50)
step "incidents are diagnosed" "$root/tests/doctor/incidents.py" "${incidents[@]}"
if [[ $mode == --all ]]; then
  step "incidents on other fabrics are diagnosed" "$root/tests/doctor/incidents.py" --fabrics others --seeds 3 --first-seed 101 --healthy 100 --pairs 20
fi
step "failures are diagnosed one by one" "$root/tests/doctor/failure_table.py"
step "dashboards" "$root/tests/dashboards/run.sh"
if [[ $mode == --all ]]; then
  step "alerts" "$root/tests/dashboards/alerts.sh"
  step "two hundred watchers" "$root/tests/live/watchers.py"
fi
step "live labs come and go" "$root/tests/live/run.sh"
step "switches that run FRR" "$root/tests/live/frr.sh"
step "traffic through a live lab" "$root/tests/live/traffic.sh"
step "RDMA programs through a live lab" "$root/tests/live/verbs.sh" "${all[@]+"${all[@]}"}"
step "RDMA libraries and MPI through a live lab" "$root/tests/live/verbs_libraries.sh" "${all[@]+"${all[@]}"}"
step "programs that connect by rdma_cm" "$root/tests/live/rdmacm.sh"
step "agents with the devices of applications" "$root/tests/live/application_agents.sh"
step "what an operator does to RDMA programs" "$root/tests/live/application_effects.sh"
step "programs of libfabric through a live lab" "$root/tests/live/libfabric.sh" "${all[@]+"${all[@]}"}"
step "what programs are told when something is wrong" "$root/tests/live/application_errors.sh"
kills=6
[[ $mode == --all ]] && kills=1000
step "programs that are killed" "$root/tests/live/application_kills.sh" --times "$kills"
step "running labs are validated" "$root/tests/live/validate.sh"
step "railyard top in a terminal" "$root/tests/live/top.py"
step "a live lab over several machines" "$root/tests/live/sites.sh"
step "a live lab over TLS" "$root/tests/live/tls.sh"
step "a live lab without privileges" "$root/tests/live/unprivileged.sh"
step "SoftRoCE through the fabric" "$root/tests/interop/run.sh" "$([[ $mode == --all ]] && echo all || echo ci)"

if [[ $mode == --all ]]; then
  step "a build that is optimised for what it does" "$root/tests/install/profile.sh"
  configure gcc -DRAILYARD_BENCH=OFF
  step "build (g++)" build gcc
  step "tests (g++)" ctests gcc -LE long
  step "the README's commands in a lab that stays" "$root/tests/readme/run.sh" --live
  step "long tests (release)" ctests release -L long
  configure tsan -DRAILYARD_BENCH=OFF
  threaded=(base_test device_test run_test scenario_test api_test daemon_test guest_test hosts_test)
  step "build (tsan)" build tsan "${threaded[@]}"
  step "tests (tsan)" env TSAN_OPTIONS="suppressions=$root/tests/tsan.supp" ctest --test-dir "$root/build/tsan" \
    --output-on-failure -R "$(one_of "${threaded[@]}")"
  step "Debian packages in a bare Debian" "$root/tests/bare/package.sh"
  step "live labs come and go, for long" "$root/tests/live/run.sh" --times 100 --kills 50 --soak 600
  step "planted bugs are found" "$root/tests/sensitivity/run.sh"
  step "processes and threads that share a NIC" "$root/tests/live/application_processes.sh"
  step "the libraries of RDMA programs under sanitizers" "$root/tests/live/application_sanitizers.sh"
  step "what quickstart.sh --applications ends with" "$root/tools/applications/demo.sh"
  step "MPI over RoCEv2, Ultra Ethernet and TCP" "$root/tools/applications/compare.sh" --bytes 1048576 --rounds 20
  step "one more kind costs a few lines" "$root/tests/seams/run.sh"
  step "planted bugs are found by the swarm" "$root/tests/swarm/run.sh"
  install_packages "${packages_bench[@]}"
  # How fast it is depends on who else uses the machine: a missed bar is printed, and fails nothing here.
  step "benchmarks" bash -c '"$1" || [[ $? == 1 ]]' - "$root/tests/bench/run.sh"
fi
finish
