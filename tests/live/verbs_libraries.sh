#!/usr/bin/env bash
# What others have built on libibverbs, through a live lab: the tests that rdma-core ships for itself (pyverbs), UCX,
# Open MPI over UCX and Gloo (PyTorch's collectives) with programs that compare every octet.
#
# usage: tests/live/verbs_libraries.sh [--all]
#   --all   MPI up to 64 MiB, Gloo to 4 MiB; else to 256 KiB
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
largest=$(( 256 << 10 ))
case ${1:-} in --all) largest=$(( 64 << 20 )) ;; '') ;; *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;; esac
name=verbs-libraries
. "$here/applications.sh"
need "ucx-utils, openmpi-bin, libopenmpi-dev, g++, jq" ucx_perftest ucx_info mpirun mpicc g++ jq
[[ -e /usr/include/gloo/config.h ]] || { echo "$name: no Gloo (Debian: libgloo-dev)" >&2; exit 2; }
suite=/usr/share/doc/rdma-core/tests
[[ -e $suite/run_tests.py ]] || { echo "$name: no $suite (Debian: rdma-core, python3-pyverbs)" >&2; exit 2; }

# Modules of the suite that are for devices of other makers, GPUs, or librdmacm with a kernel behind it.
others='mlx5|efa|cuda|rdmacm'
# Why a test may be skipped, as the suite says it.
reasons=(
  'Create XRCD is not supported'                  # XRC: EOPNOTSUPP
  'Device memory is not supported'                # no memory of its own
  'Allocating dmabuf is not supported'            # of GPUs
  'ODP is not supported'                          # memory is never paged out under the device: there is nothing to demand
  'There are no huge pages of size 2M'            # of this machine
  'Parent Domain is not supported'                # allocators of the application's
  'Importing a device is not supported'           # between processes
  'Create QP type 8 is not supported'             # raw packets
  'Create Raw Packet QP'                          # the same
  'Extended CQ is not supported'                  # tag matching, time stamps
  'Extended QP is not supported on this device'   # atomic WRITE, a later annex
  'All gid indices populated'                     # there is no empty one
  'Create memory window of type 3'                # the test wants this refusal
)
pyverbs_passes() {
  cp -r "$suite" "$work/tests" && gunzip -f "$work"/tests/*.gz || return 1
  local modules
  modules=$(cd "$work/tests" && for m in test_*.py; do m=${m%.py}; [[ $m =~ $others ]] || echo "-k $m."; done)
  # shellcheck disable=SC2086  # words
  ( cd "$work/tests" && on h1 /usr/bin/python3 run_tests.py --dev railyard0 --gid 0 -v $modules ) >"$work/pyverbs" 2>&1 ||
    { cat "$work/pyverbs"; return 1; }
  say '%s, %s' "$(grep '^Ran' "$work/pyverbs")" "$(tail -n1 "$work/pyverbs")"
  local expected
  expected=$(printf '%s\n' "${reasons[@]}")
  ! grep "skipped '" "$work/pyverbs" | grep -vF "$expected" || { echo "skipped for another reason"; return 1; }
}
ucx_sees_the_device() { on h1 ucx_info -d | tee "$work/out" | grep -q 'Device: railyard0:1' && grep -q rc_verbs "$work/out"; }
# TRANSPORT TEST ARGUMENT...
ucx() {
  local transport=$1 test=$2; shift 2
  export UCX_TLS=$transport,self UCX_NET_DEVICES=railyard0:1
  pair ucx_perftest -t "$test" -f "$@" | tee "$work/out" || return 1
  say '%s us' "$(awk 'NF >= 8 { us = $3 } END { print us }' "$work/out")"
}
# Each rank is a process of its own; they find each other by files.
gloo() {
  local hosts=("$@") ranks=$# rank pids=() pid status=0
  mkdir -p "$work/gloo"; rm -rf "${work:?}/gloo/"*
  for (( rank = 0; rank < ranks; ++rank )); do
    on "${hosts[rank]}" "$work/gloo_check" "$rank" "$ranks" "$work/gloo" "$(( largest > 4 << 20 ? 4 << 20 : largest ))" \
      >"$work/gloo-$rank" 2>&1 & pids+=($!)
  done
  for pid in "${pids[@]}"; do wait "$pid" || status=1; done
  cat "$work"/gloo-[0-9]*
  say '%s' "$(tail -n1 "$work/gloo-0")"
  return "$status"
}
# HOST...: a rank on each
mpi() {
  local ranks=() host
  for host in "$@"; do ranks+=(-np 1 "$railyard" exec "$host" -- "$work/mpi_check" "$largest" :); done
  unset 'ranks[-1]'
  # The fabric needs a processor, too: ranks are not bound to theirs. A busy machine may keep all of them waiting.
  UCX_TLS=rc_v,ud_v,self UCX_NET_DEVICES=railyard0:1 UCX_RC_TIMEOUT=8s timeout "$patience" mpirun --allow-run-as-root \
    --oversubscribe --bind-to none --mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any --mca btl '^openib' "${ranks[@]}" | tee "$work/out" || return 1
  say '%s' "$(tail -n1 "$work/out")"
  grep -q "^$largest octets" "$work/out"
}

check "up: four hosts of applications, leaf-spine" lab_comes_up
check "rdma-core's own tests (pyverbs)" pyverbs_passes
check "ucx_info: railyard0, RC and UD" ucx_sees_the_device
for transport in rc_v ud_v; do
  for test in tag_lat tag_bw ucp_put_lat ucp_put_bw ucp_get ucp_add; do
    check "ucx_perftest $test, $transport" ucx "$transport" "$test" -s 8 -n 1000
  done
  check "ucx_perftest tag_bw of 64 KiB, $transport" ucx "$transport" tag_bw -s 65536 -n 200
done
check "mpicc" mpicc -O2 -Wall -Wextra -Werror -o "$work/mpi_check" "$here/mpi_check.c"
check "Open MPI, 2 ranks: ping-pong and all-reduce" mpi h1 h3
check "Open MPI, 4 ranks on 2 leaves" mpi h1 h2 h3 h4
check "a program of Gloo" g++ -std=c++17 -O1 -Wall -o "$work/gloo_check" "$here/gloo_check.cc" -lgloo -libverbs
check "Gloo over ibverbs, 2 ranks: all-reduce, broadcast" gloo h1 h3
check "Gloo over ibverbs, 4 ranks on 2 leaves" gloo h1 h2 h3 h4
check "nothing was dropped" lossless
check "all was given back" until_so none_is_open
check "down leaves nothing" down_leaves_nothing
exit "$failed"
