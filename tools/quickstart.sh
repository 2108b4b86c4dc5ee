#!/usr/bin/env bash
# From a fresh clone to a running fabric: installs missing packages, builds, runs an all-reduce that survives a link
# flap over RoCEv2 and over Ultra Ethernet side by side, and prints next steps. Needs Debian 12; root (or sudo) only for
# the packages.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

install_packages "${packages_build[@]}"
say "building railyard (two cores: about four minutes)"
[[ -f $root/build/release/CMakeCache.txt ]] || configure release -DRAILYARD_TESTS=OFF -DRAILYARD_BENCH=OFF
build release railyard

cd "$root"
say "build/release/bin/railyard compare-transports topologies/scenarios/allreduce-rails.yaml --report build/quickstart"
build/release/bin/railyard compare-transports topologies/scenarios/allreduce-rails.yaml --report build/quickstart
cat <<'MSG'

That was a rail-optimized fabric in exact virtual time: eight hosts with four 400G NICs each, and on every rail a
ring all-reduce: over RoCEv2 and over Ultra Ethernet, on the same fabric. The link of h3 on rail 2 went down twice in the
middle. What was lost was sent again, the repeats concerned took longer (collective_max), and in the end every rank had
the right sum. compare.html and a report of each column are in build/quickstart/. Next:

  cd build/release/bin; scenarios=../../../topologies/scenarios                # or put build/release/bin into PATH
  ./railyard run $scenarios/allreduce-rails.yaml --payload real                # every octet of every rank compared
  ./railyard compare-transports ../../../topologies/comparisons/t6-4-incast.yaml  # DCQCN and NSCC without PFC
  ./railyard run $scenarios/hierarchical-vs-ring.yaml                          # where placement costs a factor of 3
  ./railyard run ../../../topologies/incast-8to1.yaml                          # queues, CE marks, PFC hop by hop
  ./railyard run ../../../topologies/permutation-128.yaml --digest --workers 2 # the same on any number of workers
  ../../../tools/softroce/demo.sh                                              # ib_write_bw between real RoCEv2 hosts
MSG
