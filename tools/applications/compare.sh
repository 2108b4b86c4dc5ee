#!/usr/bin/env bash
# The same MPI all-reduce over RoCEv2 (Open MPI on UCX, verbs) and over Ultra Ethernet (Open MPI on libfabric), on the same
# emulated fabric, with incasts between the all-reduces, while an uplink flaps. Prints both side by side.
#
# usage: tools/applications/compare.sh [--bytes N] [--rounds N] [--report DIR]
#   --bytes N     largest message (default 1048576)
#   --rounds N    all-reduces of each size (default 20)
#   --report DIR  write a report of the fabric under each transport to DIR/roce and DIR/uet; `railyard compare` shows both
# Needs root, a built Railyard, and Debian's openmpi-bin, libopenmpi-dev and libucx0. Sums are verified; exit code 1: a
# program failed.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
usage() { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2; }
bytes=1048576 rounds=20 report=
while (( $# )); do
  case $1 in
    --bytes) bytes=${2:?}; shift 2 ;;
    --rounds) rounds=${2:?}; shift 2 ;;
    --report) report=${2:?}; shift 2 ;;
    *) usage ;;
  esac
done
railyard=$root/build/release/bin/railyard
[[ -x $railyard ]] || railyard=$(command -v railyard) || { echo "compare.sh: no railyard; build it first (tools/quickstart.sh)" >&2; exit 2; }
for tool in mpirun mpicc jq; do
  command -v "$tool" >/dev/null || { echo "compare.sh: no $tool (Debian: openmpi-bin libopenmpi-dev libucx0 jq)" >&2; exit 2; }
done
lab=compare-$$
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-compare.XXXXXX")
export RAILYARD_LAB=$lab
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$railyard" down "$lab" >/dev/null 2>&1 || true; give_back_processors; rm -rf -- "$work"; }
trap cleanup EXIT
. "$here/priority.sh"
take_processors -10
mpicc -O2 -o "$work/allreduce" "$here/allreduce.c"

declare -A layer=(
  [roce]="--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any --mca btl ^openib"
  [uet]="--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include railyard --mca btl self,vader"
)
# What makes a switch fit for UET: the class drops, and cuts what it has no room for.
uet_fabric=(--set qos.default.classes.3.lossless=false --set qos.default.classes.3.queue-alpha=1/16
  --set 'qos.default.classes.3.trim={ dscp: 40, class: 5 }')
ranks=()
for host in h1 h2 h3 h4; do ranks+=(-np 1 "$railyard" exec "$host" -- "$work/allreduce" "$bytes" "$rounds" :); done
unset 'ranks[-1]'

run() { # TRANSPORT
  local fabric=()
  [[ $1 == roce ]] || fabric=("${uet_fabric[@]}")
  "$railyard" up "$root/topologies/labs/applications-compare.yaml" --name "$lab" --detach "${fabric[@]+"${fabric[@]}"}" >/dev/null
  # shellcheck disable=SC2086
  UCX_TLS=rc_v,ud_v,self UCX_NET_DEVICES=railyard0:1 UCX_RC_TIMEOUT=8s timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none \
    ${layer[$1]} "${ranks[@]}" </dev/null >"$work/$1" 2>"$work/errors" & local program=$!
  # The flap begins when the ranks have met.
  until [[ -s $work/$1 ]] || ! kill -0 "$program" 2>/dev/null; do sleep 0.05; done
  "$railyard" fault add "name: flap, on: leaf1:3, flap: { down: 5ms, up: 300ms }, for: 60s" >/dev/null
  wait "$program" || { echo "compare.sh: over $1 the program failed:" >&2; cat "$work/$1" "$work/errors" >&2; exit 1; }
  "$railyard" status --json >"$work/$1.json"
  if [[ -n $report ]]; then "$railyard" report "$report/$1" >/dev/null; fi
  "$railyard" down "$lab" >/dev/null
}
sum() { # TRANSPORT FILTER
  jq "[$2] | add // 0" "$work/$1.json"
}
row() { printf '%-38s %16s %16s\n' "$@"; }

[[ -z $report ]] || mkdir -p "$report"
run roce
run uet
row "4 ranks" RoCEv2 UET
for size in $(awk '$1 ~ /^[0-9]+$/ && NF == 6 { print $1 }' "$work/roce"); do
  of() { awk -v size="$size" -v column="$2" '$1 == size && NF == 6 { print $column; exit }' "$work/$1"; }
  row "$size bytes: all-reduce, median us" "$(of roce 2)" "$(of uet 2)"
  row "$size bytes: all-reduce, longest us" "$(of roce 3)" "$(of uet 3)"
  row "$size bytes: bus bandwidth Gb/s" "$(of roce 4)" "$(of uet 4)"
  row "$size bytes: incast, median us" "$(of roce 5)" "$(of uet 5)"
  row "$size bytes: incast, longest us" "$(of roce 6)" "$(of uet 6)"
done
row "retransmitted packets of the ranks" "$(sum roce '.applications[].counters.roce.retransmitted_packets')" \
  "$(sum uet '.applications[].counters.uet.retransmitted_packets')"
row "CE marks by switches" "$(sum roce '.ports[].ecn_marked')" "$(sum uet '.ports[].ecn_marked')"
row "PFC pause frames" "$(sum roce '.ports[].pfc_sent')" "$(sum uet '.ports[].pfc_sent')"
row "trimmed packets at the ranks" 0 "$(sum uet '.applications[].counters.uet.trimmed_packets')"
row "frames dropped or lost" "$(sum roce '.ports[] | (.drops | add // 0), .lost_on_link')" \
  "$(sum uet '.ports[] | (.drops | add // 0), .lost_on_link')"
tail -n1 "$work/uet"
[[ -z $report ]] || printf '\nReports: %s/roce/report.html, %s/uet/report.html. Both: railyard compare %s/roce %s/uet\n' "$report" "$report" "$report" "$report"
