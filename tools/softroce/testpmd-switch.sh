#!/usr/bin/env bash
# testpmd-switch.sh - DPDK's testpmd as a stand-in switch: forwards between vhost-user ports.
#
# usage: testpmd-switch.sh DIR [COMMAND...]
#
# Creates the sockets DIR/port0.sock and DIR/port1.sock (PORTS=n for more: 0<->1, 2<->3, ...),
# then runs COMMAND and stops with its status; without COMMAND it runs until a signal.
# Needs no hugepages, no root and no NIC. Takes the place a dataplane under test would have:
#   testpmd-switch.sh DIR run-pair.sh --script scripts/check.sh \
#      --a vhost-user,path=DIR/port0.sock --b vhost-user,path=DIR/port1.sock
#
# PORTS     number of ports, even (default 2)
# EAL_ARGS  in place of "--no-huge -m 128", e.g. "--in-memory -m 256" with hugepages
# STATS=1   print testpmd's port statistics at the end
set -euo pipefail
dir=${1:?usage: testpmd-switch.sh DIR [COMMAND...]}; shift
ports=${PORTS:-2}
pmd=$(command -v dpdk-testpmd) || { echo "testpmd-switch: no dpdk-testpmd (Debian: dpdk-dev)" >&2; exit 125; }
mkdir -p "$dir"
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-softroce-pmd.XXXXXX")
pid='' cpid=''
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  trap - EXIT INT TERM
  local i
  for i in $cpid $pid; do kill -TERM "$i" 2>/dev/null || true; done
  for i in $cpid $pid; do wait "$i" 2>/dev/null || true; done
  for ((i = 0; i < ports; i++)); do rm -f -- "$dir/port$i.sock"; done
  [[ -z ${STATS:-} ]] || awk '/Forward statistics/ || /[RT]X-packets/' "$work/log" >&2
  rm -rf -- "$work"
}
trap cleanup EXIT
trap 'exit 143' INT TERM
args=()
for ((i = 0; i < ports; i++)); do
  rm -f -- "$dir/port$i.sock"
  args+=(--vdev "net_vhost$i,iface=$dir/port$i.sock,queues=1")
done
mkfifo "$work/stdin"; exec 9<>"$work/stdin"   # testpmd ends when its standard input does
last=$(( $(nproc) - 1 ))
# Two threads (control, forwarding), both free to run on any CPU.
# shellcheck disable=SC2086
"$pmd" --lcores="0@(0-$last),1@(0-$last)" --no-pci --no-telemetry --file-prefix="rxelab$$" \
  ${EAL_ARGS:---no-huge -m 128} "${args[@]}" -- \
  --forward-mode=io --auto-start --nb-cores=1 --total-num-mbufs=8192 --max-pkt-len=9000 <&9 >"$work/log" 2>&1 &
pid=$!
for ((t = 0; t < 150; t++)); do
  [[ ! -S $dir/port$((ports - 1)).sock ]] || break
  kill -0 "$pid" 2>/dev/null || { cat "$work/log" >&2; echo "testpmd-switch: testpmd ended" >&2; exit 125; }
  sleep 0.1
done
if (( $# )); then
  rc=0
  "$@" & cpid=$!
  wait "$cpid" || rc=$?
  cpid=
  exit "$rc"
fi
echo "testpmd-switch: ready, $ports ports in $dir" >&2
wait "$pid"
