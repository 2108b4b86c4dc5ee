#!/usr/bin/env bash
# From a fresh clone to a running fabric: installs missing packages, builds, runs an all-reduce that survives a link
# flap over RoCEv2 and over Ultra Ethernet side by side, and prints next steps. Needs Debian 12; root (or sudo) only for
# the packages.
#
# usage: tools/quickstart.sh [--applications]
#   --applications   end with unmodified RDMA programs across an emulated fabric instead: ib_write_bw, and an MPI
#                    all-reduce over RoCEv2 and over Ultra Ethernet. Needs root, for /dev/infiniband
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

applications=
case ${1:-} in
  '') ;;
  --applications) applications=1 ;;
  *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
[[ -z $applications || $EUID == 0 ]] || die "--applications needs root: libibverbs wants a device file in /dev/infiniband"
[[ -z $applications || ! -e /sys/class/infiniband_verbs ]] ||
  die "this machine's kernel has RDMA devices, and libibverbs then looks for no others; unload ib_uverbs, or use a container without them"

install_packages "${packages_build[@]}" ${applications:+"${packages_applications[@]}"}
say "building railyard (two cores: about four minutes)"
[[ -f $root/build/release/CMakeCache.txt ]] || configure release -DRAILYARD_TESTS=OFF -DRAILYARD_BENCH=OFF
build release railyard ${applications:+railyard_rdmav34 railyard_fi railyard_rdmacm_preload}

cd "$root"
if [[ -n $applications ]]; then
  exec tools/applications/demo.sh
fi
say "build/release/bin/railyard compare-transports topologies/scenarios/allreduce-rails.yaml --report build/quickstart"
build/release/bin/railyard compare-transports topologies/scenarios/allreduce-rails.yaml --report build/quickstart
cat <<'MSG'

That was a rail-optimized fabric in exact virtual time: eight hosts with four 400G NICs each, and on every rail a
ring all-reduce: over RoCEv2 and over Ultra Ethernet, on the same fabric. The link of h3 on rail 2 went down twice in the
middle. What was lost was sent again, the repeats concerned took longer (collective_max), and in the end every rank had
the right sum. compare.html and a report of each column are in build/quickstart/. Next:

  cd build/release/bin; scenarios=../../../topologies/scenarios                # or put build/release/bin into PATH
  ./railyard run $scenarios/allreduce-rails.yaml --payload real                # every octet of every rank compared
  ./railyard compare-transports ../../../topologies/comparisons/t6-4-incast.yaml  # DCQCN, NSCC and RCCC without PFC
  ./railyard run $scenarios/hierarchical-vs-ring.yaml                          # where placement costs a factor of 3
  ./railyard run ../../../topologies/incast-8to1.yaml                          # queues, CE marks, PFC hop by hop
  ./railyard run ../../../topologies/permutation-128.yaml --digest --workers 2 # the same on any number of workers
  ../../../tools/softroce/demo.sh                                              # ib_write_bw between real RoCEv2 hosts
MSG
