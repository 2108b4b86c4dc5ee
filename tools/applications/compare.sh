#!/usr/bin/env bash
# The same MPI all-reduce over RoCEv2 (Open MPI on UCX, verbs), over Ultra Ethernet (Open MPI on libfabric) and over TCP (of the
# Linux kernel, in network namespaces), on the same emulated fabric, with incasts between the all-reduces, while an uplink
# flaps. Prints all side by side.
#
# usage: tools/applications/compare.sh [--bytes N] [--rounds N] [--report DIR]
#   --bytes N     largest message (default 1048576)
#   --rounds N    all-reduces of each size (default 20)
#   --report DIR  write a report of the fabric under each transport to DIR/roce, DIR/uet and DIR/tcp; `railyard compare` shows
#                 two of them
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
lab=compare-$$ bridge=rycmp$$
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-compare.XXXXXX")
export RAILYARD_LAB=$lab
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  "$railyard" down "$lab" >/dev/null 2>&1 || true
  ip link del "$bridge" 2>/dev/null || true
  give_back_processors
  rm -rf -- "$work"
}
trap cleanup EXIT
. "$here/priority.sh"
take_processors -10
mpicc -O2 -o "$work/allreduce" "$here/allreduce.c"

declare -A layer=(
  [roce]="--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any --mca btl ^openib"
  [uet]="--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include railyard --mca btl self,vader"
  [tcp]="--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include eth1"
)
# What makes a switch fit for UET: the class drops, and cuts what it has no room for.
uet_fabric=(--set qos.default.classes.3.lossless=false --set qos.default.classes.3.queue-alpha=1/16
  --set 'qos.default.classes.3.trim={ dscp: 40, class: 5 }')
# TCP is the kernel's (CUBIC, with ECN), so hosts are network namespaces. Their frames are in class 0, with the same marking.
tcp_fabric=(--set 'qos.default.classes.0={ ecn: { kmin: 60KB, kmax: 240KB } }')
hosts=(h1 h2 h3 h4)
for host in "${hosts[@]}"; do tcp_fabric+=(--set "nodes.$host.attach=namespace"); done
ranks=()
for host in "${hosts[@]}"; do ranks+=(-np 1 "$railyard" exec "$host" -- "$work/allreduce" "$bytes" "$rounds" :); done
unset 'ranks[-1]'

# Ranks in network namespaces reach mpirun over a network of its own, as nodes of a cluster do.
management_network() {
  ip link add "$bridge" type bridge
  ip addr add 169.254.77.1/24 dev "$bridge"
  ip link set "$bridge" up
  local i
  for i in "${!hosts[@]}"; do
    "$railyard" exec "${hosts[i]}" -- sh -c "ip link add mgmt type veth peer name $bridge.$i netns 1 &&
      ip addr add 169.254.77.$((i + 2))/24 dev mgmt && ip link set mgmt up"
    ip link set "$bridge.$i" master "$bridge" up
  done
  export PMIX_MCA_ptl_base_remote_connections=1 PMIX_MCA_ptl_base_if_include=$bridge
}
tcp_retransmitted() { # segments
  local host total=0
  for host in "${hosts[@]}"; do
    (( total += $("$railyard" exec "$host" -- nstat -asz TcpRetransSegs | awk '$1 == "TcpRetransSegs" { print $2 }') ))
  done
  echo "$total"
}

run() { # TRANSPORT
  local fabric=()
  case $1 in uet) fabric=("${uet_fabric[@]}") ;; tcp) fabric=("${tcp_fabric[@]}") ;; esac
  "$railyard" up "$root/topologies/labs/applications-compare.yaml" --name "$lab" --detach "${fabric[@]+"${fabric[@]}"}" >/dev/null
  [[ $1 != tcp ]] || management_network
  # shellcheck disable=SC2086
  UCX_TLS=rc_v,ud_v,self UCX_NET_DEVICES=railyard0:1 UCX_RC_TIMEOUT=8s timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none \
    ${layer[$1]} "${ranks[@]}" </dev/null >"$work/$1" 2>"$work/errors" & local program=$!
  # The flap begins when the ranks have met.
  until [[ -s $work/$1 ]] || ! kill -0 "$program" 2>/dev/null; do sleep 0.05; done
  "$railyard" fault add "name: flap, on: leaf1:3, flap: { down: 5ms, up: 300ms }, for: 60s" >/dev/null
  wait "$program" || { echo "compare.sh: over $1 the program failed:" >&2; cat "$work/$1" "$work/errors" >&2; exit 1; }
  "$railyard" status --json >"$work/$1.json"
  [[ $1 != tcp ]] || retransmitted_by_tcp=$(tcp_retransmitted)
  if [[ -n $report ]]; then "$railyard" report "$report/$1" >/dev/null; fi
  "$railyard" down "$lab" >/dev/null
}
sum() { # TRANSPORT FILTER
  jq "[$2] | add // 0" "$work/$1.json"
}
row() { printf '%-38s %16s %16s %16s\n' "$@"; }

[[ -z $report ]] || mkdir -p "$report"
run roce
run uet
run tcp
row "4 ranks" RoCEv2 UET TCP
for size in $(awk '$1 ~ /^[0-9]+$/ && NF == 6 { print $1 }' "$work/roce"); do
  figures() { # NAME COLUMN
    local transport shown=()
    for transport in roce uet tcp; do
      shown+=("$(awk -v size="$size" -v column="$2" '$1 == size && NF == 6 { print $column; exit }' "$work/$transport")")
    done
    row "$size bytes: $1" "${shown[@]}"
  }
  figures "all-reduce, median us" 2
  figures "all-reduce, longest us" 3
  figures "bus bandwidth Gb/s" 4
  figures "incast, median us" 5
  figures "incast, longest us" 6
done
row "retransmitted packets of the ranks" "$(sum roce '.applications[].counters.roce.retransmitted_packets')" \
  "$(sum uet '.applications[].counters.uet.retransmitted_packets')" "$retransmitted_by_tcp"
of_ports() { # NAME FILTER
  row "$1" "$(sum roce ".ports[] | $2")" "$(sum uet ".ports[] | $2")" "$(sum tcp ".ports[] | $2")"
}
of_ports "CE marks by switches" .ecn_marked
of_ports "PFC pause frames" .pfc_sent
row "trimmed packets at the ranks" 0 "$(sum uet '.applications[].counters.uet.trimmed_packets')" 0
of_ports "frames dropped or lost" '(.drops | add // 0), .lost_on_link'
tail -n1 "$work/uet"
[[ -z $report ]] || printf '\nReports: %s/{roce,uet,tcp}/report.html. Two of them: railyard compare %s/roce %s/uet\n' "$report" "$report" "$report"
