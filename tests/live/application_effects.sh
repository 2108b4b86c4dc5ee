#!/usr/bin/env bash
# What an operator does to the fabric while RDMA programs run, as the programs themselves see it: captures have their
# packets, faults by QP, PSN and PDCID end in their counters and errors, links that fail in their events, marked packets
# in their bandwidth.
#
# usage: tests/live/application_effects.sh
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
(( $# == 0 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2; }
name=effects
. "$here/applications.sh"
need "perftest, gcc, jq" ib_write_bw gcc jq
out=$work/client

programs_are_built() {
  gcc -O1 -o "$work/effects_check" "$here/effects_check.c" -libverbs &&
    gcc -O1 -o "$work/libfabric_check" "$here/libfabric_check.c" -lfabric
}
# begin [TIMEOUT]: a server on h3, a client on h1, until end_it. Their QPs are $qp and $peer_qp.
begin() {
  port=$(( port + 1 ))
  "$railyard" exec h3 -- "$work/effects_check" server "$port" "${1:-17}" </dev/null >"$work/server" 2>&1 & server=$!
  until_so listens || return 1
  "$railyard" exec h1 -- "$work/effects_check" client "$port" "${1:-17}" </dev/null >"$out" 2>&1 & client=$!
  until_so grep -q '^rounds' "$out" || return 1
  read -r qp peer_qp < <(sed -n 's/^QP \(0x[0-9a-f]*\) to \(0x[0-9a-f]*\),.*/\1 \2/p' "$out")
}
end_it() {
  kill -TERM "$client" || { cat "$out"; return 1; }
  wait "$client" || { cat "$out"; return 1; }
  wait "$server" || return 1
  tail -n1 "$out"
}
fails() { ! wait "$client" || { echo "the client did not notice"; return 1; }; wait "$server" || true; cat "$out"; }
goes_on() { # the program has more rounds than before
  local before; before=$(grep -c '^rounds' "$out")
  until_so has_more "$before"
}
has_more() { (( $(grep -c '^rounds' "$out") > $1 + 1 )); }
# counter HOST NAME [TRANSPORT]: of its programs, from `railyard status`; hw_counter HOST NAME: as tools read it
counter() { fabric "[.applications[] | select(.host == \"$1\") | .counters.${3:-roce}.$2] | add"; }
hw_counter() { cat "$work/state/$lab/applications/$1/class/infiniband/railyard0/ports/1/hw_counters/$2"; }
hw_follows() { [[ $(hw_counter "$1" "$2") == $(counter "$1" "$2") ]]; }
flows_are_named() {
  fabric '.applications[] | select(.host == "h1") | .processes[] | {command, connections}'
  fabric "any(.applications[] | select(.host == \"h1\") | .processes[] | select(.command == \"effects_check\") | .connections[];
    .type == \"RC\" and .state == \"RTS\" and .qp == $(( qp )) and .peer_qp == $(( peer_qp )) and .peer_host == \"h3\" and .packets > 0)" |
    grep -q true || return 1
  "$railyard" status >"$work/out" || return 1
  grep "effects_check.*RC QP $qp -> h3 $peer_qp, RTS" "$work/out"
}
capture_has_them() {
  timeout "$patience" "$railyard" capture leaf1:1 --count 200 -w "$work/frames.pcapng" || return 1
  "$railyard" decode --json "$work/frames.pcapng" >"$work/frames" || return 1
  local to from
  to=$(jq -s "[.[] | select(.bth.dest_qp == $(( peer_qp )) and (.bth.operation | test(\"WRITE\")))] | length" "$work/frames")
  from=$(jq -s "[.[] | select(.bth.dest_qp == $(( qp )) and (.bth.operation | test(\"ACK|Response\"; \"i\")))] | length" "$work/frames")
  head -n 3 "$work/frames"
  say '%d WRITEs to QP %s, %d answers to QP %s' "$to" "$peer_qp" "$from" "$qp"
  (( to > 20 && from > 20 ))
}
int_shows_the_path() {
  timeout "$patience" "$railyard" int "$work/hops.jsonl" --one-in 10 --for 300ms || return 1
  head -n 3 "$work/hops.jsonl"
  # Of each packet that arrived, the nodes in their order.
  jq -rs 'group_by(.packet) | map(sort_by(.hop) | map(.node) | join(" ")) | group_by(.) | map("\(length) \(.[0])") | .[]' \
    "$work/hops.jsonl" >"$work/paths"
  cat "$work/paths"
  say '%s' "$(sort -rn "$work/paths" | head -n1)"
  grep -q 'h1 leaf1 spine[12] leaf2' "$work/paths"
}
some_packets_of_a_qp_are_lost() {
  local before; before=$(counter h1 retransmitted_packets)
  "$railyard" fault add "name: few, on: leaf1:1, match: { bth.dest_qp: $peer_qp }, count: 5, drop: true" || return 1
  until_so retransmitted_since "$before" || return 1
  goes_on || return 1
  "$railyard" fault rm few || return 1
  until_so hw_follows h1 retransmitted_packets || return 1
  say '%d packets retransmitted' "$(( $(counter h1 retransmitted_packets) - before ))"
}
retransmitted_since() { (( $(counter h1 retransmitted_packets "${2:-roce}") > $1 )); }
# The QP of the next program begins with PSN 0x1000, too.
one_psn_is_lost() {
  local before; before=$(counter h1 retransmitted_packets)
  "$railyard" fault add "name: psn, on: leaf1:1, match: { bth.psn: 0x1009, bth.opcode: 7 }, count: 1, drop: true" || return 1
  begin || return 1
  until_so retransmitted_since "$before" || return 1
  say '%d packets retransmitted for one that was lost' "$(( $(counter h1 retransmitted_packets) - before ))"
  "$railyard" fault rm psn
}
a_qp_that_loses_all_fails() {
  "$railyard" fault add "name: all, on: leaf1:1, match: { bth.dest_qp: $peer_qp }, drop: true" || return 1
  until_so gone "$client" || return 1
  fails || return 1
  "$railyard" fault rm all || return 1
  say '%s' "$(tail -n1 "$out")"
  grep -q 'failed: transport retry counter exceeded' "$out" && until_so exceeded
}
exceeded() { (( $(hw_counter h1 req_transport_retries_exceeded) > 0 )); }
gone() { ! kill -0 "$1" 2>/dev/null; }
a_link_fails_and_comes_back() {
  "$railyard" link down leaf1:1 || return 1
  until_so grep -q 'event: port error' "$out" || return 1
  "$railyard" link up leaf1:1 || return 1
  until_so grep -q 'event: port active' "$out" || return 1
  goes_on || return 1
  say '%s' "$(grep -c '^event' "$out") events, then $(tail -n1 "$out")"
}
begin_uet() {
  rm -f "$work/address"
  "$railyard" exec h3 -- "$work/libfabric_check" receive "$work/address" </dev/null >"$work/server" 2>&1 & server=$!
  until_so test -e "$work/address" || return 1
  "$railyard" exec h1 -- "$work/libfabric_check" send "$work/address" </dev/null >"$out" 2>&1 & client=$!
  until_so has_pdc
}
pdc() { # of h1, $1: pdcid or peer_pdcid
  fabric ".applications[] | select(.host == \"h1\") | .processes[] | select(.transport == \"uet\") | .connections[] | select(.state == \"open\") | .$1" | head -n1
}
has_pdc() { [[ -n $(pdc peer_pdcid) && $(pdc peer_pdcid) != null ]]; }
a_pdc_loses_some() {
  local before; before=$(counter h1 retransmitted_packets uet)
  "$railyard" fault add "name: some, on: leaf1:1, match: { uet.dpdcid: $(pdc peer_pdcid) }, count: 5, drop: true" || return 1
  until_so retransmitted_since "$before" uet || return 1
  "$railyard" fault rm some || return 1
  ! gone "$client" || { cat "$out"; return 1; }
  say '%d packets retransmitted to PDCID %d' "$(( $(counter h1 retransmitted_packets uet) - before ))" "$(pdc peer_pdcid)"
}
a_pdc_that_loses_all_fails() {
  "$railyard" fault add "name: all, on: leaf1:1, match: { uet.dpdcid: $(pdc peer_pdcid) }, drop: true" || return 1
  until_so gone "$client" || return 1
  wait "$client" || { cat "$out"; return 1; }
  kill "$server"; wait "$server" || true
  "$railyard" fault rm all || return 1
  say '%s' "$(tail -n1 "$out")"
  grep -qi 'timed out' "$out" && (( $(counter h1 pdcs_failed uet) > 0 ))
}
# The bandwidth that perftest prints, Gb/s.
measured() {
  pair ib_write_bw -d railyard0 --report_gbits -F -u 19 -s 65536 -n "$1" >"$work/out" || { cat "$work/out"; return 1; }
  cat "$work/out"
  awk '$1 ~ /^[0-9]+$/ { bw = $4 } END { print bw }' "$work/out" >"$work/$2"
}
marks_slow_it_down() {
  "$railyard" down || return 1
  "$railyard" up "$here/application_effects.yaml" --name "$lab" --detach || return 1
  # Both bandwidths also depend on who else uses the machine: three attempts.
  local i
  for (( i = 0; i < 3; ++i )); do is_slower_with_marks && return; done
  return 1
}
is_slower_with_marks() {
  local quiet cnps
  "$railyard" set qos.default.classes.3.ecn.kmax=1500KB qos.default.classes.3.ecn.kmin=1MB || return 1
  measured 400 fast || return 1
  quiet=$(counter h1 rp_cnp_handled)
  # The switch marks what queues, and a fault all of it: DCQCN goes far below the slow link's rate.
  "$railyard" set qos.default.classes.3.ecn.kmin=2KB qos.default.classes.3.ecn.kmax=4KB || return 1
  "$railyard" fault add "name: marks, on: switch1:3, mark: true" || return 1
  measured 400 slow || return 1
  "$railyard" fault rm marks || return 1
  cnps=$(( $(counter h1 rp_cnp_handled) - quiet ))
  say '%s Gb/s of 2 without marks, %s with; %d CNPs' "$(<"$work/fast")" "$(<"$work/slow")" "$cnps"
  (( cnps > 10 && $(counter h3 np_cnp_sent) > 10 && $(fabric '[.ports[].ecn_marked] | add') > 100 )) &&
    awk -v fast="$(<"$work/fast")" -v slow="$(<"$work/slow")" 'BEGIN { exit !(slow < 0.5 * fast) }'
}

check "up: four hosts of applications, leaf-spine" lab_comes_up
check "programs that say what happens to them" programs_are_built
check "a program over RC" begin
check "status names its QPs and its peer" flows_are_named
check "a capture has its packets" capture_has_them
check "INT shows its path" int_shows_the_path
check "five packets of its QP are lost: retransmitted" some_packets_of_a_qp_are_lost
check "its link fails and comes back: events, and it goes on" a_link_fails_and_comes_back
check "all data were right" end_it
check "the packet with a given PSN is lost: retransmitted" one_psn_is_lost
check "its QP loses everything: RETRY_EXC_ERR" a_qp_that_loses_all_fails
check "a program over libfabric" begin_uet
check "packets of its PDC are lost: retransmitted" a_pdc_loses_some
check "its PDC loses everything: an error" a_pdc_that_loses_all_fails
check "marks slow perftest down: CNPs, DCQCN" marks_slow_it_down
check "all was given back" until_so none_is_open
check "down leaves nothing" down_leaves_nothing
exit "$failed"
