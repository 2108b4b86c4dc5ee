#!/usr/bin/env bash
# Unmodified RDMA programs through a live lab: libibverbs' and perftest's, and one that compares every octet, between
# hosts with `attach: application` across leaf, spine and leaf. What they send must be what the fabric counts; what breaks
# in the fabric must be seen by them.
#
# usage: tests/live/verbs.sh [--all]
#   --all   every verb of perftest with every option that changes what is sent or how it completes; else a selection
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
long=
case ${1:-} in
  '') ;;
  --all) long=1 ;;
  *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
name=verbs
. "$here/applications.sh"
need "ibverbs-utils, perftest, jq" ibv_devinfo ib_write_bw jq
# Their timeouts are fixed: 0.5 s in all for RC, none for UC and UD, which wait for ever for what was lost. A busy machine may
# keep a program from a processor for longer, so there are three attempts.
pingpong() {
  local patience=20 i
  for (( i = 1; i <= 3; ++i )); do one_pingpong "$@" && return; done
  return 1
}
one_pingpong() { pair "$@" -g 0 | tee "$work/out" && say '%s' "$(grep -o '[0-9.]* usec/iter' "$work/out")"; }
# Columns of perftest: bandwidth in Gb/s, or the typical latency.
bandwidth() { pair "$@" -d railyard0 --report_gbits -F -u 19 | tee "$work/out" && say '%s Gb/s' "$(awk '$1 ~ /^[0-9]+$/ { bw = $4 } END { print bw }' "$work/out")"; }
# perftest PROGRAM OPTION...: whatever it measures. With -R the address is the emulated host's, and the client tries until
# the server listens there.
perftest() {
  local columns='$1 ~ /^[0-9]+$/ { n = $1 " bytes: " $(program ~ /_lat$/ ? 5 : 4) (program ~ /_lat$/ ? " us" : " Gb/s") } END { print n }'
  if [[ " $* " == *' -R '* ]]; then
    connected "$@"
  else
    pair "$@" -d railyard0 "${common[@]}"
  fi >"$work/out" || { cat "$work/out"; return 1; }
  cat "$work/out"
  say '%s' "$(awk -v program="$1" "$columns" "$work/out")"
}
connected() {
  local h3 i server
  h3=$(awk '$2 == "h3" { print $1; exit }' "$work/state/$lab/applications/h1/hosts")
  on h3 "$@" "${common[@]}" >"$work/server" 2>&1 & server=$!
  for (( i = 0; i < 50; ++i )); do
    if on h1 "$@" "${common[@]}" "$h3"; then wait "$server"; return; fi
    sleep 0.1
  done
  kill "$server"; return 1
}
# The whole table. perftest itself has no -e for ib_write_*, no -a for atomics, and -b and -q only for bandwidth.
whole_table() {
  local verb kind options of common
  for verb in write read send atomic; do
    for kind in bw lat; do
      of=('' '-D 2 -f 0' '-x 0' '-m 1024' '-R')
      [[ $kind == lat ]] || of+=('-b' '-q 4' '-b -q 8' '-l 8 -n 800' '-b -R' '-Q 1')
      [[ $verb == atomic ]] || of+=('-a' '-a -R' '-s 1')
      [[ $verb == atomic || $kind == lat ]] || of+=('-a -b')
      [[ $verb == write ]] || of+=('-e')
      [[ $verb == read || $verb == atomic ]] || of+=('-c UC' '-c UC -a' '-I 64 -s 64')
      [[ $verb != atomic ]] || of+=('-A FETCH_AND_ADD' '-A CMP_AND_SWAP' '-o 4')
      [[ $verb != read ]] || of+=('-o 4')
      [[ $verb != send ]] || of+=('--use-srq' '-c UD' '-c UD -a' '-c UD -e' '-c UC -e' '-c UD --use-srq' '-e --use-srq')
      [[ $verb$kind != sendbw ]] || of+=('-c UD -b' '-c UD -q 4' '-c UC -b -q 4' '--use-srq -q 4' '-c UD -R' '-r 64')
      [[ $verb$kind != writebw ]] || of+=('-c UC -b -q 4')
      for options in "${of[@]}"; do
        common=(-F -u 19)
        [[ $kind == lat ]] || common+=(--report_gbits)
        [[ $options == *-D* || $options == *-n* ]] || common+=(-n $([[ $options == *-a* ]] && echo 20 || echo 200))
        # shellcheck disable=SC2086  # words
        check "ib_${verb}_$kind $options" perftest "ib_${verb}_$kind" $options
      done
    done
  done
  for options in ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong; do
    check "$options, events" pingpong "$options" -e
    [[ $options == ibv_rc_pingpong ]] || continue
    check "$options, ibv_wr_*, events" pingpong "$options" -N -e
  done
}
latency() { pair "$@" -d railyard0 -F -u 19 | tee "$work/out" && say '%s us' "$(awk '$1 ~ /^[0-9]+$/ { us = $5 } END { print us }' "$work/out")"; }

device_is_seen() {
  on h1 ibv_devinfo -v >"$work/out" || return 1
  cat "$work/out"
  grep -q 'hca_id:.*railyard0' "$work/out" && grep -q 'PORT_ACTIVE' "$work/out" && grep -q 'GID\[ *0\].*RoCE v2' "$work/out" &&
    grep -q 'active_mtu:.*4096' "$work/out"
}
env_is_enough() { ( eval "$("$railyard" env h2)" && ibv_devices ) | grep railyard0; }
octets_are_right() {
  gcc -O1 -o "$work/verbs_check" "$here/verbs_check.c" -libverbs || return 1
  port=$(( port + 1 ))
  on h3 "$work/verbs_check" server "$port" >"$work/server" 2>&1 & local server=$!
  on h1 "$work/verbs_check" client "$port" && wait "$server"
}
crosses_the_spines() {
  local before=$(( $(crossed) ))
  pair ib_write_bw -d railyard0 -F -s 4096 -n 1000 || return 1
  local packets=$(( $(crossed) - before ))
  say '%d packets by the spines for 1000 messages' "$packets"
  (( packets >= 1000 && packets < 4000 ))
}
loss_is_repaired() {
  "$railyard" fault add "name: loss, on: leaf2:1, loss: 1%" || return 1
  octets_are_right || return 1
  "$railyard" fault rm loss || return 1
  say '%d lost on the link' "$(fabric '[.ports[].lost_on_link] | add')"
  (( $(fabric '[.ports[].lost_on_link] | add') > 0 ))
}
link_is_seen() {
  "$railyard" link down leaf1:1 || return 1
  until_so state_is PORT_DOWN || return 1
  "$railyard" link up leaf1:1 || return 1
  until_so state_is PORT_ACTIVE
}
state_is() { on h1 ibv_devinfo | grep -q "$1"; }
# h1's leaf pauses class 3 for good: a program of that class waits, and one of class 1 goes on.
a_paused_class_holds_back_no_other() {
  local paused_server paused
  "$railyard" fault add "name: storm, on: leaf1:1, pfc-storm: [3]" || return 1
  port=$(( port + 1 ))
  on h3 ib_write_bw -d railyard0 -F -u 21 -n 200 -p "$port" >"$work/paused-server" 2>&1 & paused_server=$!
  until_so listens || return 1
  on h1 ib_write_bw -d railyard0 -F -u 21 -n 200 -p "$port" 127.0.0.1 >"$work/paused" 2>&1 & paused=$!
  sleep 1
  patience=30 bandwidth ib_write_bw -n 1000 --tclass 32 || { kill "$paused_server" "$paused"; return 1; }
  kill -0 "$paused" || { echo "class 3 was not paused"; return 1; }
  "$railyard" fault rm storm || return 1
  wait "$paused" && wait "$paused_server"
}
# A peer that is killed does not answer: the other one ends with an error, and the lab takes back what it had.
a_killed_peer_is_missed() {
  local server client
  port=$(( port + 1 ))
  "$railyard" exec h3 -- ib_write_bw -d railyard0 -F -D 60 -p "$port" </dev/null >"$work/server" 2>&1 & server=$!
  until_so listens || return 1
  "$railyard" exec h1 -- ib_write_bw -d railyard0 -F -D 60 -p "$port" 127.0.0.1 </dev/null >"$work/client" 2>&1 & client=$!
  sleep 2
  kill -KILL "$server" || { echo "no server to kill"; return 1; }
  wait "$server" || true
  ! wait "$client" || { echo "the client did not notice"; return 1; }
  cat "$work/client"
  until_so none_is_open
}

check "up: four hosts of applications, leaf-spine" lab_comes_up
check "ibv_devinfo: device, GID, port, MTU" device_is_seen
check "railyard env: enough for a shell" env_is_enough
check "ibv_rc_pingpong" pingpong ibv_rc_pingpong
check "ibv_rc_pingpong, events" pingpong ibv_rc_pingpong -e
check "ibv_rc_pingpong, ibv_wr_*" pingpong ibv_rc_pingpong -N
check "ibv_uc_pingpong" pingpong ibv_uc_pingpong
check "ibv_ud_pingpong" pingpong ibv_ud_pingpong
check "ibv_srq_pingpong" pingpong ibv_srq_pingpong
check "every octet of sends, writes, reads, atomics" octets_are_right
check "they cross the spines" crosses_the_spines
check "ib_write_bw, 64 KiB" bandwidth ib_write_bw
check "ib_send_bw" bandwidth ib_send_bw
check "ib_read_bw" bandwidth ib_read_bw
check "ib_atomic_bw" bandwidth ib_atomic_bw
check "ib_write_bw, all sizes" bandwidth ib_write_bw -a -n 200
check "ib_write_bw, both ways, 8 QPs" bandwidth ib_write_bw -b -q 8
check "ib_send_bw, UD" bandwidth ib_send_bw -c UD
check "ib_send_bw, SRQ" bandwidth ib_send_bw --use-srq
check "ib_write_bw, UC" bandwidth ib_write_bw -c UC
check "ib_send_lat" latency ib_send_lat
check "ib_write_lat" latency ib_write_lat
check "ib_read_lat" latency ib_read_lat
check "ib_atomic_lat" latency ib_atomic_lat
check "ib_send_lat, events" latency ib_send_lat -e
[[ -z $long ]] || whole_table
check "nothing was dropped" lossless
check "1 % of loss: every octet all the same" loss_is_repaired
check "a link that goes down is seen, and back" link_is_seen
check "class 3 is paused: class 1 goes on" a_paused_class_holds_back_no_other
check "a killed peer: an error here, all taken back there" a_killed_peer_is_missed
check "down leaves nothing" down_leaves_nothing
exit "$failed"
