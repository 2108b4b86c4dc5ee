#!/usr/bin/env bash
# A live lab of two SoftRoCE guests on two rails, from the command line: up, RDMA over both rails while a link goes down
# and comes back, a guest that dies, down. No root. With root also guests and network namespaces in one lab.
#
# usage: live.sh
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=${BUILD:-$root/build/release}/bin/railyard
out=$(mktemp -d "${TMPDIR:-/tmp}/railyard-interop.XXXXXX")
export RAILYARD_STATE_DIR=$out/state RAILYARD_SOFTROCE_ACCEL=${RAILYARD_SOFTROCE_ACCEL:-tcg}
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$railyard" down --all >/dev/null 2>&1 || true; rm -rf -- "$out"; }
trap cleanup EXIT
failed=0
check() { # TEXT COMMAND...
  local text=$1 began=$SECONDS; shift
  if "$@" >"$out/log" 2>&1; then
    printf 'ok    %-58s (%d s)  %s\n' "$text" $((SECONDS - began)) "$(tail -n1 "$out/summary" 2>/dev/null || true)"
  else
    printf 'FAIL  %s\n' "$text"; sed 's/^/      /' "$out/log"; failed=1
  fi
  rm -f "$out/summary"
}
on() { local host=$1; shift; "$railyard" exec "$host" -- "$@" </dev/null; }
until_so() { # COMMAND...: for as long as a busy machine may need
  local i
  for (( i = 0; i < 300; ++i )); do "$@" && return; sleep 0.1; done
  printf 'it does not come to that: %s\n' "$*"
  return 1
}
lab_status() { "$railyard" status --json | jq -e "$1"; }
# A perftest tool on the NICs R of two hosts.
perftest() { # SERVER CLIENT R TOOL ARGUMENT...
  local to=$1 from=$2 rail=$3 tool=$4 server tries=5; shift 4
  while :; do
    on "$to" "$tool" -d "rxe$rail" "$@" >"$out/server" 2>&1 & server=$!
    until_so on "$to" sh -c "netstat -ltn 2>/dev/null | grep -q ':18515 '" || return 1
    on "$from" "$tool" -d "rxe$rail" "$@" "$to.eth$rail" >"$out/client" 2>&1 && break
    # It times the processor's clock first, and gives up where other programs disturb that.
    if (( --tries > 0 )) && grep -q 'Correlation coefficient' "$out/client" "$out/server"; then
      wait "$server" || true
      continue
    fi
    cat "$out/client" "$out/server"
    return 1
  done
  wait "$server"
  cat "$out/client"
  awk '/^ *[0-9]+ +[0-9]/ { print }' "$out/client" | tail -n1 >"$out/summary"
  [[ -s $out/summary ]]
}
# The same from h1 to h2 while the receiver's link, at PORT of its leaf, is away: RC sends again what was lost.
while_broken() { # R PORT TOOL ARGUMENT...
  local rail=$1 port=$2 lost before away sent; shift 2
  lost=$(lost_on_the_way) before=$(rxe_counters "$rail") sent=$(sent_by "$port")
  {
    until_so more_than $(( sent + 1000000 )) sent_by "$port"
    "$railyard" link down "$port"
    sleep 1
    until_so more_than "$lost" lost_on_the_way
    "$railyard" link up "$port"
  } >"$out/broken" & local breaker=$!
  perftest h2 h1 "$rail" "$@" || { cat "$out/broken"; return 1; }
  wait "$breaker" || { cat "$out/broken"; return 1; }
  away=$("$railyard" logs | awk '/^[^ ]* [a-z]* link .* (down|up): asked at / { was = is; is = $(NF - 1) } END { print is - was }')
  lost=$(( $(lost_on_the_way) - lost ))
  # By whom it was noticed, and made good.
  rxe_counters "$rail" | diff <(echo "$before") - | awk '
    /^</ { was[$2] = $3 }
    /^>/ && $2 ~ /retry|duplicate|out_of_seq|rnr|err/ { text = text sprintf(", %s +%d", $2, $3 - was[$2]) }
    END { print text }' >"$out/recovered"
  printf 'away for %.3f s (modelled), %d frames lost%s\n' "$away" "$lost" "$(<"$out/recovered")" >"$out/summary"
  cat "$out/summary"
  awk -v away="$away" 'BEGIN { exit !(away > 0.5) }' && (( lost > 0 )) || return 1
  [[ -z $before || -n $(<"$out/recovered") ]]
}
# The link of h1's first NIC is away, and back: what the guest's kernel, its RDMA device and a program that waits for
# events are told.
guest_sees_its_link() {
  local watcher rc=0
  "$railyard" exec h1 -- ibv_asyncwatch -d rxe1 </dev/null >"$out/events" 2>&1 & watcher=$!
  until_so grep -q 'async event' "$out/events" && until_so rxe_port_is ACTIVE 1 || return 1
  "$railyard" link down h1:1 && until_so rxe_port_is DOWN 0 && until_so grep -qi 'port_err' "$out/events" &&
    "$railyard" link up h1:1 && until_so rxe_port_is ACTIVE 1 && until_so grep -qi 'port_active' "$out/events" &&
    ping_both || rc=1
  kill "$watcher"
  wait "$watcher" || true
  tr '\n' ';' <"$out/events" >"$out/summary"
  (( rc == 0 )) || cat "$out/events"
  return "$rc"
}
rxe_port_is() { # STATE CARRIER
  on h1 sh -c "ibv_devinfo -d rxe1 | grep -q 'PORT_$1' && [ \"\$(cat /sys/class/net/eth1/carrier)\" = $2 ]"
}
# In Mb/s, as `ethtool` shows it.
guest_has_the_speed() {
  local rate
  rate=$(lab_status '.ports[] | select(.node == "h1" and .port == 1) | .rate_bps / 1000000')
  on h1 cat /sys/class/net/eth1/speed | tee "$out/summary"
  [[ $(<"$out/summary") == "$rate" ]]
}
more_than() { local n=$1; shift; (( $("$@") > n )); } # N COMMAND...
sent_by() { lab_status ".ports[] | select(.node == \"${1%:*}\" and .port == ${1#*:}) | .tx.bytes"; } # PORT
rxe_counters() { # R: what the two rxe devices of a rail have counted, if this kernel's do
  local host
  for host in h1 h2; do
    on "$host" sh -c "cd /sys/class/infiniband/rxe$1/ports/1/hw_counters && grep . *" | sed "s/^/$host./; s/:/ /"
  done
}
lost_on_the_way() { lab_status '[.ports[] | .lost_on_link + (.drops.link_down // 0)] | add'; }
ping_both() { on h1 ping -c 2 -W 5 10.9.1.2 && on h1 ping -c 2 -W 5 10.9.2.2; }
rping_pair() {
  on h2 rping -s -a 10.9.1.2 -C 20 >"$out/server" 2>&1 & local server=$!
  sleep 2
  on h1 rping -c -a 10.9.1.2 -C 20 || { cat "$out/server"; return 1; }
  wait "$server"
}
copies() {
  head -c 100000 /dev/urandom >"$out/file"
  "$railyard" cp "$out/file" h1:/root/file && "$railyard" cp h1:/root/file "$out/back" && cmp "$out/file" "$out/back"
}
# Ctrl-C at once when the guests boot: what takes seconds is not waited for.
interrupted() { # SIGNAL
  local began
  "$railyard" up "$root/topologies/labs/softroce-pair.yaml" >"$out/up" 2>&1 & local up=$!
  until_so test -s "$out/state/softroce-pair/guests/h2/qemu.pid" || return 1
  began=$SECONDS
  kill "-$1" "$up"
  wait "$up" && return 1
  printf '%d s\n' $(( SECONDS - began )) >"$out/summary"
  cat "$out/up"
  grep -q "^railyard: lab 'softroce-pair' was stopped before it had started$" "$out/up" && (( SECONDS - began < 20 )) &&
    nothing_left
}
# A guest whose QEMU is killed is reported and reboots while the lab keeps running.
dies() {
  kill -KILL "$(<"$out/state/softroce-pair/guests/h1/qemu.pid")"
  until_so lab_status '(.hosts[] | select(.name == "h1") | .state == "down") and
    ([.attachments[] | select(.host == "h1") | .link_up] | any | not)' || return 1
  on h1 true 2>"$out/error" && return 1
  cat "$out/error"
  [[ $(wc -l <"$out/error") == 1 ]] && grep -q '^railyard: h1 is down: .*; `railyard restart h1` reboots it$' "$out/error" &&
    "$railyard" status | grep -q '^h1 is down: ' && on h2 true
}
comes_back() {
  "$railyard" restart h1 >"$out/restart" & local restart=$!
  until_so lab_status '.hosts[] | select(.name == "h1") | .state == "booting"' || return 1
  on h2 true || return 1
  wait "$restart" || return 1
  grep -qx 'lab softroce-pair: h1 is up again' "$out/restart" && ping_both
}
# Of one that runs: it is powered off first.
another() {
  on h2 touch /root/before || return 1
  "$railyard" restart h2 && ping_both && on h2 test ! -e /root/before
}

# Virtual machines and namespaces in one lab.
all_ping() {
  local from to
  for from in v1 n1 v2 n4; do
    for to in v1 v2 n1 n2 n3 n4 n5 n6; do
      [[ $from == "$to" ]] || on "$from" ping -c 1 -W 10 "$to" || return 1
    done
  done
}
rdma_beside_tcp() {
  local tcp
  on n4 iperf3 -s -D >/dev/null || return 1
  until_so on n4 sh -c 'ss -ltnH sport = 5201 | grep -q .' || return 1
  "$railyard" exec n1 -- iperf3 -c n4 -t 600 --json </dev/null >"$out/iperf3" & tcp=$!
  perftest v2 v1 1 ib_write_bw -D 4 --report_gbits || return 1
  kill -0 "$tcp" || { echo "iperf3 has ended"; return 1; }
  kill -INT "$tcp"
  wait "$tcp" || true
  jq -e '.end.sum_sent.bytes > 1e6' "$out/iperf3" >/dev/null || { cat "$out/iperf3"; return 1; }
  printf '%s; TCP %.2f Gb/s\n' "$(<"$out/summary")" "$(jq '.end.sum_sent.bits_per_second / 1e9' "$out/iperf3")" >"$out/more"
  mv "$out/more" "$out/summary"
}

# Both rails, both ways.
validates() {
  "$railyard" validate softroce-pair --only hosts-rdma --json >"$out/result" || { cat "$out/result"; return 1; }
  jq -r '.lines[0].found' "$out/result" >"$out/summary"
  jq -e '.lines[0] | .answer == "pass" and (.found | startswith("4 pairs"))' "$out/result"
}
nothing_left() {
  ! pgrep -f "$out/state" && [[ -z $(find "$out/state" -mindepth 1) ]] && ! ip netns list | grep "^ry-mixed-$$"
}
down_leaves_nothing() { "$railyard" down && nothing_left; }

check "Ctrl-C while guests boot leaves nothing, soon" interrupted INT
check "SIGTERM likewise" interrupted TERM
check "up: two guests, two rails" "$railyard" up "$root/topologies/labs/softroce-pair.yaml" --detach
check "ping over both rails" ping_both
check "the guest's NIC has the speed of its link" guest_has_the_speed
check "its link goes: PORT_DOWN and an event; and comes back" guest_sees_its_link
check "rping" rping_pair
check "ib_write_bw, rail 1" perftest h2 h1 1 ib_write_bw -n 500
check "ib_send_lat, rail 2" perftest h2 h1 2 ib_send_lat -n 500
check "railyard validate: ib_write_bw between all NICs" validates
check "ib_write_bw, rail 1, while its link is down for 1 s" while_broken 1 leaf2:1 ib_write_bw -u 17 -D 8 --report_gbits
check "a file to a guest and back" copies
check "the books balance" "$railyard" status --audit
check "a guest whose QEMU is killed: said, and what to do" dies
check "it reboots, nobody waits" comes_back
check "one that runs is, too" another
check "the books balance" "$railyard" status --audit
check "down leaves nothing" down_leaves_nothing

if (( EUID != 0 )); then
  echo "skip  two guests and six network namespaces in one lab: needs root"
elif ! command -v iperf3 >/dev/null; then
  echo "FAIL  no iperf3 (Debian: iperf3)"; failed=1
else
  check "up: two guests and six namespaces" "$railyard" up "$here/mixed.yaml" --name "mixed-$$" --detach
  check "ping among all kinds" all_ping
  check "ib_write_bw between guests, TCP between namespaces" rdma_beside_tcp
  check "the books balance" "$railyard" status --audit
  check "down leaves nothing" down_leaves_nothing
fi
exit "$failed"
