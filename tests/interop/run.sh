#!/usr/bin/env bash
# Real RoCEv2 (the kernel's SoftRoCE in small guests) through the emulated fabric, live.
#
# usage: run.sh ci | all
#   ci    a lasting guest and its agent (guest.sh); a live lab of two guests (live.sh); a guest and a built-in NIC as
#         peers (peer.sh); one guest with NICs on two leaves, every verb; an incast held back by PFC
#   all   also: a guest and programs of this machine by rdma_cm (application.sh); two guests with the stock tools at MTU
#         1500 and 9000, links capped to 20 Mb/s, the incast with the class made lossy, rdma_cm, VLANs; guests whose RDMA devices are ranks of a collective (agent.sh)
# What is checked: the guests' own verdict on their data, and the fabric's counters (report.json).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
softroce=$root/tools/softroce
out=$(mktemp -d "${TMPDIR:-/tmp}/railyard-interop.XXXXXX")
trap 'rm -rf -- "$out"' EXIT
failed=0

# through NAME SPEC NICS SCRIPT [through-fabric.sh arguments]: runs it, keeps its report as $out/NAME/report.json
through() {
  local name=$1 spec=$2 nics=$3 script=$4 began=$SECONDS; shift 4
  if "$softroce/through-fabric.sh" --lab "$root/topologies/$spec" --nics "$nics" --script "$softroce/scripts/$script" \
       --report "$out/$name" "$@" >"$out/$name.log" 2>&1; then
    printf 'ok    %-28s (%d s)  %s\n' "$name" $((SECONDS - began)) "$(grep -oh 'stream [0-9].*' "$out/$name.log" | head -n1)"
  else
    printf 'FAIL  %-28s\n' "$name"; sed 's/^/      /' "$out/$name.log"; failed=1
  fi
}
# expect NAME JQ-CONDITION TEXT: a fact about the report
expect() {
  if jq -e "$2" "$out/$1/report.json" >/dev/null 2>&1; then
    printf '      %s\n' "$3"
  else
    printf 'FAIL  %s: not so: %s\n' "$1" "$3"; failed=1
    jq -c '.audit, [.ports[] | {node, port, drops, classes: [.classes[] | {class, drops, pfc_sent, max_depth_bytes}]}]' \
      "$out/$1/report.json" 2>/dev/null | sed 's/^/      /' || true
  fi
}
classes='[.ports[] | .classes[]]'
# Nowhere: not in a queue, not at a port, not on a link, not on the way in or out of a guest.
no_loss="([$classes[].drops | add // 0] | add // 0) == 0 and ([.ports[].drops | add // 0] | add // 0) == 0 and
  .audit.lost_on_links == 0 and ([.attachments[]? | .host_ring_full, .no_memory, .not_sent | . // 0] | add // 0) == 0"
# All but what a leaf answers itself (ARP).
crossed='([.ports[] | select(.node | startswith("spine")) | .tx.packets] | add) as $by_spines |
  ([.ports[] | select(.node | test("^h[0-9]+$")) | .tx.packets] | add) as $by_hosts |
  $by_hosts > 500 and $by_spines > 0.9 * $by_hosts'
# said NAME WORD...: the guests' log has a line `bench WORD:` for each
said() {
  local name=$1 word; shift
  for word in "$@"; do
    grep -q "bench $word:" "$out/$name.log" && continue
    printf 'FAIL  %s: nothing of %s in the log\n' "$name" "$word"; failed=1
  done
}
# no_faster NAME MBPS: the guests' own figure is below what their links carry
no_faster() {
  local figure
  figure=$(grep -oh 'stream .* = [0-9.]* Mbit/s' "$out/$1.log" | sed 's/.* = \([0-9.]*\) .*/\1/' | head -n1)
  if awk -v f="${figure:-0}" -v most="$2" 'BEGIN { exit !(f > 0 && f < most) }'; then
    printf '      %s of %s Mb/s\n' "$figure" "$2"
  else
    printf 'FAIL  %s: %s Mb/s over links of %s\n' "$1" "${figure:-no figure}" "$2"; failed=1
  fi
}
tools=(pingpong write_bw send_bw read_bw atomic_bw write_bw_cm send_bw_cm atomic_bw_cm send_lat read_lat)
balanced='.audit.balanced'

"$softroce/build-image.sh"
"$here/guest.sh" || failed=1
"$here/live.sh" || failed=1
"$here/peer.sh" "${1:-ci}" || failed=1
if [[ ${1:-ci} == all ]]; then
  "$here/application.sh" || failed=1
  "$here/agent.sh" || failed=1
fi

through one-guest softroce-pair.yaml 2 oneguest.sh
expect one-guest "$balanced" "the books balance"
expect one-guest "$no_loss" "nothing lost in the fabric"
expect one-guest "$crossed" "it went across the spines"

# At 20 Mb/s, so that the links are the bottleneck however slow the machine is that emulates the guest.
through incast softroce-incast.yaml 3 incast.sh --set defaults.link.rate=20Mbps -- --env 'VC_ARGS=-T 0x6a -t 18' --env N=16
expect incast "$balanced" "the books balance"
expect incast "$no_loss" "nothing lost in the fabric"
expect incast '[.ports[] | select(.node == "leaf1" and .port <= 2) | .classes[] | select(.class == 3) | .pfc_sent] | length == 2 and min >= 2' \
  "PFC went to both senders"
expect incast '[.ports[] | select(.node == "h1" or .node == "h2") | .classes[] | select(.class == 3) | .paused_ns] | min > 1000000' \
  "and held them back"
expect incast "$classes | map(.ecn_marked) | add > 0" "frames were marked CE"

if [[ ${1:-ci} == all ]]; then
  for mtu in 1500 9000; do
    through "pair-$mtu" softroce-pair.yaml pair perf.sh -- --mtu "$mtu"
    expect "pair-$mtu" "$no_loss" "nothing lost in the fabric"
    expect "pair-$mtu" "$crossed" "it went across the spines"
    said "pair-$mtu" "${tools[@]}"
    through "every-verb-$mtu" softroce-pair.yaml pair check.sh -- --mtu "$mtu"
    expect "every-verb-$mtu" "$no_loss" "nothing lost in the fabric"
    expect "every-verb-$mtu" "$crossed" "it went across the spines"
  done
  for rate in 20Mbps 50Mbps; do
    through "capped-$rate" softroce-pair.yaml 2 oneguest.sh --set defaults.link.rate="$rate" -- --env 'VC_ARGS=-T 0x6a -t 18'
    expect "capped-$rate" "$no_loss" "nothing lost in the fabric"
    expect "capped-$rate" '[.ports[] | select(.node | test("^h[0-9]+$")) | .classes[].max_depth_bytes] | max > 65536' \
      "a message and more stood in a NIC before its link"
    no_faster "capped-$rate" "${rate%Mbps}"
  done
  through incast-lossy softroce-incast.yaml 3 incast.sh --set qos.default.classes.3.lossless=false -- \
    --env 'VC_ARGS=-T 0x6a' --env N=16
  expect incast-lossy "$balanced" "the books balance"
  expect incast-lossy "$classes | map(.drops.ingress_full // 0, .drops.egress_full // 0) | add > 0" "the lossy class lost frames"
  expect incast-lossy "$classes | map(.pfc_sent) | add == 0" "and nobody was paused"
  through rdmacm softroce-pair.yaml pair rdmacm.sh
  through vlan softroce-pair.yaml pair vlan.sh --set nodes.h1.address=10.5.0.1 --set nodes.h2.address=10.5.0.2
  # Guests that are told a larger MTU than the fabric's links have: what is too long is counted, not carried.
  through giants softroce-pair.yaml pair giants.sh -- --mtu 9500
  expect giants '[.ports[].drops.giant // 0] | add > 0' "giants are counted"
fi
exit "$failed"
