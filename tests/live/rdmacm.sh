#!/usr/bin/env bash
# Unmodified programs that connect by rdma_cm through a live lab: rdmacm-utils' and perftest's between hosts with
# `attach: application`, and to a built-in NIC that serves. Their management datagrams cross the switches; who is refused, or
# loses its peer, must hear of it.
#
# usage: tests/live/rdmacm.sh
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
(( $# == 0 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2; }
name=rdmacm spec=$here/rdmacm.yaml
. "$here/applications.sh"
need "rdmacm-utils, perftest, jq" rping ucmatose udaddy rdma_server ib_send_bw jq
[[ -e $root/build/release/lib/railyard/librailyard-rdmacm.so ]] ||
  { echo "$name: no librailyard-rdmacm.so (Debian: librdmacm-dev); build it first" >&2; exit 2; }
patience=60
address_of() { awk -v name="$1" '$2 == name { print $1; exit }' "$work/state/$lab/applications/h1/hosts"; }
# serve HOST COMMAND...: in the background, until it has its port; its process is $server
serve() {
  local host=$1 before; shift
  before=$(ports_taken)
  timeout "$patience" "$railyard" exec "$host" -- "$@" </dev/null >"$work/server" 2>&1 & server=$!
  until_so took_a_port "$before" || { cat "$work/server"; kill "$server"; return 1; }
}
ports_taken() { grep -c 'port [0-9]* of rdma_cm' "$work/state/$lab/log" || true; }
took_a_port() { (( $(ports_taken) > $1 )); }
# COMMAND... on h1
client() { on h1 "$@" || { kill "$server"; return 1; }; }
ends() { wait "$server" || { echo "the server has failed"; return 1; }; }

names_are_there() { cat "$work/state/$lab/applications/h1/hosts"; [[ -n $(address_of h3) && -n $(address_of h4) ]]; }
pings() {
  local before; before=$(crossed)
  serve h3 rping -s -a "$h3" -C 100 -S 4000 -V || return 1
  client rping -c -a "$h3" -C 100 -S 4000 -V || return 1
  ends || return 1
  say '%d packets by the spines' "$(( $(crossed) - before ))"
  (( $(crossed) - before >= 400 ))
}
with_events() { serve h3 ucmatose -c 4 -C 20 -S 2000 && client ucmatose -s "$h3" -c 4 -C 20 -S 2000 && ends; }
by_ids_that_migrate() { serve h3 ucmatose -m && client ucmatose -s "$h3" -m && ends; }
with_datagrams() { serve h3 udaddy -c 2 -C 20 -S 1000 && client udaddy -s "$h3" -c 2 -C 20 -S 1000 && ends; }
by_endpoints() { serve h3 rdma_server && client rdma_client -s h3 && ends; }
# PROGRAM ARGUMENT...
measures() {
  serve h3 "$@" -R -F || return 1
  client "$@" -R -F "$h3" >"$work/out" && ends || return 1
  cat "$work/out"
  say '%s MB/s' "$(awk '$1 ~ /^[0-9]+$/ { bw = $4 } END { print bw }' "$work/out")"
}
built_in_serves() { on h1 rping -c -a "$h4" -C 20 -S 1000 -V && on h1 udaddy -s "$h4" -C 10 -S 1000; }
# The client sends no more than 50 pings: the program ends with its connection.
built_in_is_a_client() {
  on h2 rping -s -S 4000 -V -a "$(address_of h2)" >"$work/out" 2>&1 || true
  cat "$work/out"
  "$railyard" report "$work/report" >/dev/null || return 1
  jq -c .rping "$work/report/report.json"
  say '%s' "$(jq -r '.rping[0] | "\(.pings) pings, \(.verified_bytes) bytes verified"' "$work/report/report.json")"
  jq -e '.rping[0] | .state == "done" and .pings == 50 and .verified_bytes == 50 * 4000 and .corrupted == 0' "$work/report/report.json"
}
who_does_not_listen_refuses() {
  local began=$SECONDS
  ! on h1 ucmatose -s "$h3" >"$work/out" 2>&1 || return 1
  cat "$work/out"
  grep -q 'RDMA_CM_EVENT_REJECTED, error: 8' "$work/out" || return 1
  ! on h1 udaddy -s "$h3" >"$work/out" 2>&1 || return 1
  cat "$work/out"
  grep -q 'RDMA_CM_EVENT_UNREACHABLE, error: 1' "$work/out" && (( SECONDS - began < 10 ))
}
a_port_has_one_listener() {
  serve h3 rping -s -P -a "$h3" || return 1
  until_so answers || return 1
  ! on h3 rping -s -a "$h3" >"$work/out" 2>&1 || return 1
  cat "$work/out"
  grep -qi 'address already in use' "$work/out" || return 1
  kill "$server"; wait "$server" || true
}
answers() { on h1 rping -c -a "$h3" -C 1; }
# Nobody says so for who is killed but the lab.
a_killed_peer_is_missed() {
  local server client before crossed_before
  before=$(ports_taken) crossed_before=$(crossed)
  "$railyard" exec h3 -- rping -s -a "$h3" </dev/null >"$work/server" 2>&1 & server=$!
  until_so took_a_port "$before" || { kill "$server"; return 1; }
  "$railyard" exec h1 -- rping -c -a "$h3" </dev/null >"$work/client" 2>&1 & client=$!
  until_so go_on "$crossed_before" || return 1
  kill -KILL "$server" || { echo "no server to kill"; return 1; }
  wait "$server" || true
  until_so gone "$client" || return 1
  cat "$work/client"
  grep -q DISCONNECT "$work/client" && until_so none_is_open
}
go_on() { (( $(crossed) > $1 + 100 )); }
gone() { ! kill -0 "$1" 2>/dev/null; }
without_a_link() {
  "$railyard" link down leaf1:1 || return 1
  ! on h1 rping -c -a "$h3" -C 1 >"$work/out" 2>&1 || return 1
  "$railyard" link up leaf1:1
  cat "$work/out"
  grep -q 'RDMA_CM_EVENT_ADDR_ERROR' "$work/out"
}
elsewhere_nothing_is_changed() {
  local plain preloaded
  plain=$(rping -c -a 10.0.0.1 -C 1 2>&1 || true)
  preloaded=$(LD_PRELOAD=$root/build/release/lib/railyard/librailyard-rdmacm.so rping -c -a 10.0.0.1 -C 1 2>&1 || true)
  printf '%s\n' "$plain" "$preloaded"
  [[ $plain == "$preloaded" ]]
}

check "up: three hosts of applications, one that is built in" lab_comes_up
check "names of hosts" names_are_there
h3=$(address_of h3) h4=$(address_of h4)
check "rping, 4000 bytes, verified" pings
check "ucmatose, 4 connections" with_events
check "ucmatose, IDs that change their channel" by_ids_that_migrate
check "udaddy, 2 QPs" with_datagrams
check "rdma_client, rdma_server: endpoints, the host's name" by_endpoints
check "ib_send_bw -R" measures ib_send_bw -n 200
check "ib_write_bw -R" measures ib_write_bw -n 200
check "rping and udaddy to a built-in NIC" built_in_serves
check "a built-in NIC is a client of rping -s" built_in_is_a_client
check "who does not listen refuses" who_does_not_listen_refuses
check "a port has one listener" a_port_has_one_listener
check "a killed peer is missed" a_killed_peer_is_missed
check "without a link there is no way" without_a_link
check "in no lab nothing is changed" elsewhere_nothing_is_changed
check "down leaves nothing" down_leaves_nothing
exit "$failed"
