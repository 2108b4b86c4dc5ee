#!/usr/bin/env bash
# Built-in RoCEv2 NICs against the kernel's SoftRoCE, by rping: a guest as client and as server of a built-in host
# across a leaf-spine-leaf path (topologies/rping-peer.yaml), unmodified tools there, every octet checked at both ends.
# And by udaddy: the guest asks for a QP by SIDR, and its datagrams come back. And by cm_check (tools/softroce/guest):
# atomics of both ends on each other's memory, and datagrams that are compared when they come back.
#
# usage: peer.sh ci | all
#   ci    no faults, few pings, captured and decoded: all ICRCs are right
#   all   more pings and all sizes; then again with frames lost, twice, out of order and damaged
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
softroce=$root/tools/softroce
railyard=$root/build/release/bin/railyard
out=$(mktemp -d "${TMPDIR:-/tmp}/railyard-interop.XXXXXX")
trap 'rm -rf -- "$out"' EXIT
failed=0

# peer NAME PINGS SIZES [through-fabric.sh arguments]: runs it, keeps its report as $out/NAME/report.json
peer() {
  local name=$1 pings=$2 sizes=$3 began=$SECONDS; shift 3
  if "$softroce/through-fabric.sh" --lab "$root/topologies/rping-peer.yaml" --nics 1 \
       --script "$softroce/scripts/rping-peer.sh" --report "$out/$name" \
       --set "traffic.0.rping.count=$pings" "$@" -- --timeout 300 --env "N=$pings" --env "SIZES=$sizes" --env "DATAGRAMS=${DATAGRAMS:-}" \
       --env "ATOMICS=${ATOMICS:-}" --env "ECHOES=${ECHOES:-}" --env "ECHO_COUNT=$echoes" \
       >"$out/$name.log" 2>&1; then
    printf 'ok    %-28s (%d s)  %s\n' "$name" $((SECONDS - began)) "$(grep -h '^rping -s' "$out/$name.log" | tail -n1)"
  else
    printf 'FAIL  %-28s\n' "$name"; sed 's/^/      /' "$out/$name.log"; failed=1
  fi
}
# Datagrams of each size in $ECHOES.
echoes=600
# expect NAME JQ-CONDITION TEXT: a fact about the report
expect() {
  if jq -e "$2" "$out/$1/report.json" >/dev/null 2>&1; then
    printf '      %s\n' "$3"
  else
    printf 'FAIL  %s: not so: %s\n' "$1" "$3"; failed=1
    jq -c '.audit, .rdma_services, .rping, .faults' "$out/$1/report.json" 2>/dev/null | sed 's/^/      /' || true
  fi
}
# verified NAME PINGS SIZES: what both directions have brought
verified() {
  local name=$1 pings=$2 sizes=$3 n=0 octets=0 size
  for size in $sizes; do n=$((n + pings)); octets=$((octets + pings * size)); done
  expect "$name" ".rdma_services[0].services[0] | .name == \"rping\" and .open == 0 and
    .connections == $(wc -w <<<"$sizes") and .pings == $n and .verified_bytes == $octets and .corrupted + .violations + .failed + .refused == 0" \
    "$n pings of the guest were read, verified ($octets octets) and written back"
  expect "$name" ".rping[0] | .state == \"done\" and .pings == $pings and .verified_bytes == $((pings * 65535)) and
    .corrupted == 0" "$pings pings of the built-in client were verified ($((pings * 65535)) octets)"
  expect "$name" ".rdma_services[0].cm | .ignored.refused >= 1 and .malformed == {}" "one for another port was refused"
  expect "$name" '.audit.balanced' "the books balance"
}
# datagrams NAME EACH SIZES: what udaddy has sent and got back
datagrams() {
  local name=$1 each=$2 sizes=$3 n=0 octets=0 size
  for size in $sizes; do n=$((n + each)); octets=$((octets + each * size)); done
  expect "$name" ".rdma_services[0].services[1] | .name == \"udaddy\" and .connections >= $(wc -w <<<"$sizes") and
    .pings == $n and .verified_bytes == $octets and .violations + .failed == 0" \
    "udaddy's QP was resolved, and $n datagrams ($octets octets) went back"
}
# atomics NAME EACH: what both ends have done to each other's word
atomics() {
  expect "$1" ".rdma_services[0].services[] | select(.name == \"atomics\") | .connections == 1 and .pings == 2 * $2 and
    .verified_bytes == 16 * $2 and .corrupted + .violations + .failed + .refused == 0" \
    "$2 FetchAdd and CmpSwap of each end, every answer and both words right"
}
# echoed NAME SIZE LEAST MOST: of the guest's datagrams so many were lost on the way there or back, none was wrong
echoed() {
  local line back lost
  line=$(grep -h "^cm_check: PASS $echoes datagrams of $2 octets" "$out/$1.log" || true)
  back=$(sed -n 's/.* \([0-9]*\) back.*/\1/p' <<<"$line") lost=$(sed -n 's/.* \([0-9]*\) lost.*/\1/p' <<<"$line")
  if [[ -n $line ]] && (( back + lost == echoes && lost >= $3 && lost <= $4 )); then
    printf '      %s\n' "${line#cm_check: PASS }"
  else
    printf 'FAIL  %s: datagrams of %s octets: %s\n' "$1" "$2" "${line:-nothing in the log}"; failed=1
  fi
}
# All frames of both directions at the guest's port: nothing that is no RoCE where it should be, every ICRC right.
decoded() {
  local counts
  counts=$("$railyard" decode "$1" --json | jq -s -c '[.[] | select(.icrc_ok != null)] |
    {packets: length, bad: map(select(.icrc_ok == false or .error != null)) | length,
     opcodes: map(.bth.opcode) | unique | length}')
  if jq -e '.packets > 100 and .bad == 0 and .opcodes >= 8' <<<"$counts" >/dev/null; then
    printf '      captured and decoded, all ICRCs right: %s\n' "$counts"
  else
    printf 'FAIL  the capture: %s\n' "$counts"; failed=1
  fi
}

"$softroce/build-image.sh"
if [[ ${1:-ci} == ci ]]; then
  DATAGRAMS="1 1000" ATOMICS=30 peer rping 5 "100 65535" --capture "leaf1:1=$out/h1.pcap"
  verified rping 5 "100 65535"
  datagrams rping 5 "1 1000"
  atomics rping 30
  expect rping '.rdma_services[0].dropped == {}' "every packet was of use"
  decoded "$out/h1.pcap"
else
  DATAGRAMS="1 100 1023 1024" ATOMICS=1000 peer rping 50 "26 100 4096 65535" --capture "leaf1:1=$out/h1.pcap"
  verified rping 50 "26 100 4096 65535"
  datagrams rping 50 "1 100 1023 1024"
  atomics rping 1000
  decoded "$out/h1.pcap"
  for fault in "loss: 1%" "duplicate: true, probability: 1%" "reorder: { behind: 3, within: 1ms }, probability: 1%" \
      "corrupt: true, probability: 1%"; do
    name=rping-${fault%%:*}
    ATOMICS=300 ECHOES="64 1024" peer "$name" 20 "100 65535" --set "faults=[{ name: a, on: leaf1:1, $fault }]"
    verified "$name" 20 "100 65535"
    atomics "$name" 300
    # Lost there, or back; what is damaged is dropped for its ICRC.
    case $name in
      rping-loss|rping-corrupt) for size in 64 1024; do echoed "$name" "$size" 1 60; done ;;
      *) for size in 64 1024; do echoed "$name" "$size" 0 0; done ;;
    esac
    expect "$name" '.faults[0].frames > 5' "frames met the fault"
  done
fi
exit "$failed"
