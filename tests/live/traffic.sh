#!/usr/bin/env bash
# The kernel's own traffic through a live lab: MTU, TCP that heeds ECN marks, UDP that does not, traceroute. What the
# kernel counts at both ends must be what the fabric says it did.
#
# usage: tests/live/traffic.sh
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=$root/build/release/bin/railyard
(( $# == 0 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2; }
(( EUID == 0 )) || { echo "traffic: skipped: needs root"; exit 77; }
for tool in ping iperf3 traceroute ss nstat jq; do
  command -v "$tool" >/dev/null ||
    { echo "traffic: no $tool (Debian: iputils-ping, iperf3, traceroute, iproute2, jq)" >&2; exit 2; }
done
[[ -x $railyard ]] || { echo "traffic: no $railyard; build it first" >&2; exit 2; }
lab=traffic-$$ # beside others on this machine
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-traffic.XXXXXX")
export RAILYARD_STATE_DIR=$work/state
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$railyard" down --all >/dev/null 2>&1 || true; wait; rm -rf -- "$work"; }
trap cleanup EXIT
. "$here/checks.sh"
on() { local host=$1; shift; "$railyard" exec "$host" -- "$@" </dev/null; }
says() { # WORDS COMMAND...: its output has them, whatever its status
  local words=$1 out; shift
  out=$("$@" 2>&1) || true
  printf '%s: %s\n' "$*" "$out"
  [[ $out == *"$words"* ]]
}
count() { on "$1" nstat -asz "$2" | awk -v name="$2" '$1 == name { print $2 }'; }  # HOST COUNTER of its kernel
frames() { on "$1" ip -s -j link show dev eth1 | jq ".[0].stats64.$2.packets"; }   # HOST rx|tx of its eth1
fabric() { "$railyard" status --json | jq "$1"; }
marked() { fabric '[.ports[].ecn_marked] | add'; }
dropped() { fabric '[.ports[] | (.drops | add // 0), .lost_on_link] | add'; }
not_taken() { fabric '[.attachments[] | .host_ring_full + .no_memory + .not_sent] | add'; }
# Nobody speaks, and nothing is on its way.
quiet() {
  local before now
  [[ -z $(for h in h1 h2; do on "$h" ss -tnH state connected exclude time-wait; done) ]] || return 1
  before=$(fabric '[.ports[] | .tx.packets, .depth_bytes]')
  sleep 0.1
  now=$(fabric '[.ports[] | .tx.packets, .depth_bytes]')
  [[ $now == "$before" && $(fabric '[.ports[].depth_bytes] | add') == 0 ]]
}

# A packet of OCTETS that may not be fragmented. FAMILY: 4 or 6; headers are 28 or 48 octets.
one_ping() { on h1 ping "-$1" -c 1 -W 10 -M "do" -s $(( $2 - ($1 == 4 ? 28 : 48) )) "$3"; } # FAMILY OCTETS TO
mtu_passes() {
  local family
  for family in 4 6; do
    one_ping "$family" 9000 h2.eth1 || return 1
    one_ping "$family" 1500 h2.eth2 || return 1
  done
}
one_more_is_refused_here() {
  says "message too long, mtu=9000" one_ping 4 9001 h2.eth1 || return 1
  says "message too long, mtu: 9000" one_ping 6 9001 h2.eth1
}
one_more_is_refused_on_the_way() {
  says "From leaf1 (10.255.0.1) icmp_seq=1 Frag needed and DF set (mtu = 1500)" one_ping 4 1501 h2.eth2 || return 1
  says "From leaf1 (fd00:ffff::1) icmp_seq=1 Packet too big: mtu=1500" one_ping 6 1501 h2.eth2 || return 1
  [[ $(fabric '[.ports[].drops.too_big // 0] | add') == 2 ]]
}

# The hops by name: leaf, one of the spines, leaf, host. Each probe may take another spine.
way() { # FROM-LEAF TO-LEAF TO TRACEROUTE-OPTION...
  local from=$1 to=$2 host=$3 out; shift 3
  out=$(on h1 traceroute -q 1 -w 10 "$@" "$host") || return 1
  printf '%s\n' "$out"
  awk -v from="$from" -v to="$to" -v host="$host" '
    NR > 1 { hops = hops " " $2 }
    END { exit hops !~ "^ " from " spine[12] " to " " host "$" }' <<<"$out"
}
ways() { # traceroute's options
  way leaf1 leaf2 h2 "$@" && way leaf2 leaf1 h2.eth2 "$@"
}

serve() { on h2 iperf3 -s -D >/dev/null && until_so on h2 sh -c 'ss -ltnH sport = 5201 | grep -q .'; }
# One connection at 100 Mb/s into a queue that is marked above 20 KB. Reno halves its window at each mark.
tcp_heeds_marks() {
  local delivered sender receiver ce
  "$railyard" exec h1 -- iperf3 -4 -C reno -c h2.eth1 -t 600 >/dev/null & local client=$!
  until_so marks_seen || return 1
  sender=$(on h1 ss -tineH dst h2.eth1) receiver=$(on h2 ss -tineH sport = 5201)
  kill "$client"; wait "$client" || true
  until_so quiet || return 1
  printf 'sender: %s\nreceiver: %s\n' "$sender" "$receiver"
  grep -q ' ecn .*delivered_ce:' <<<"$sender" || return 1
  grep -q ' ecn ecnseen ' <<<"$receiver" || return 1
  ce=$(count h2 IpExtInCEPkts) delivered=$(count h1 TcpExtTCPDeliveredCE)
  say '%d marked, %d seen by h2, %d told to h1, deepest %d KB' "$(marked)" "$ce" "$delivered" \
    "$(fabric '[.ports[] | select(.peer == "h2:1") | .max_depth_bytes] | max / 1000 | floor')"
  (( ce > 0 && ce == $(marked) && delivered > 0 )) || return 1
  # Marked in the place of dropped: nothing is lost but what was on purpose before.
  (( $(dropped) == dropped_before && $(not_taken) == 0 ))
}
marks_seen() { on h1 ss -tineH dst h2.eth1 | grep -q 'delivered_ce:[0-9][0-9]'; }

# 200 Mb/s of datagrams, class 1 (DSCP 8) and ECT(0), into 100 Mb/s: half of them are dropped where the queue is full,
# and those that are not are marked.
udp_loses() {
  local sent received ce marks drops lost full overrun waiting
  sent=$(frames h1 tx) received=$(frames h2 rx) ce=$(count h2 IpExtInCEPkts) marks=$(marked) drops=$(dropped)
  overrun=$(count h2 UdpRcvbufErrors)
  on h1 iperf3 -4 -u -c h2.eth1 -b 200M -l 1400 -n 20M --tos 0x22 --json >"$work/udp.json" ||
    { cat "$work/udp.json"; return 1; }
  until_so quiet || return 1
  sent=$(( $(frames h1 tx) - sent )) received=$(( $(frames h2 rx) - received ))
  ce=$(( $(count h2 IpExtInCEPkts) - ce )) marks=$(( $(marked) - marks )) drops=$(( $(dropped) - drops ))
  lost=$(jq .end.sum.lost_packets "$work/udp.json")
  printf '%d frames from h1, %d to h2; not taken %d\n' "$sent" "$received" "$(not_taken)"
  say '%d dropped (iperf3 missed %d), %d marked, %d seen by h2' "$drops" "$lost" "$marks" "$ce"
  (( ce > 0 && ce == marks && drops > 0 && sent - received == drops + $(not_taken) )) || return 1
  # But for what was in the queue, or in its socket (each packet is counted with 2304 octets there), when iperf3 asked how
  # many had come, and what the kernel dropped since nobody read it; and what was dropped after the last that came it
  # cannot miss, which is more the slower the machine is.
  overrun=$(( $(count h2 UdpRcvbufErrors) - overrun ))
  waiting=$(( $(cat /proc/sys/net/core/rmem_default) / 2304 ))
  full=$(fabric '[.ports[] | select(.peer == "h2:1") | .max_depth_bytes] | max / 1400 | ceil')
  (( 2 * lost > drops && lost < drops + $(not_taken) + overrun + waiting + full ))
}
down_leaves_nothing() {
  "$railyard" down || return 1
  ! ip netns list | grep -q "^ry-$lab" && [[ -z $(find "$work/state" -mindepth 1) ]]
}

check "up: two hosts, two rails, two leaves, two spines" "$railyard" up "$here/traffic.yaml" --name "$lab" --detach
check "a packet of exactly the MTU passes, on both rails" mtu_passes
check "one octet more than the NIC's MTU is refused at once" one_more_is_refused_here
check "one octet more than the path's MTU: too big, by leaf1" one_more_is_refused_on_the_way
check "traceroute, UDP: leaf, spine, leaf, host" ways -4
check "traceroute, ICMP" ways -4 -I
check "traceroute, UDP over IPv6" ways -6
check "traceroute, ICMPv6" ways -6 -I
check "iperf3 is ready" serve
dropped_before=$(dropped)
check "TCP with ECN: marked, not dropped" tcp_heeds_marks
check "UDP that does not care: marked and dropped" udp_loses
check "the books balance" "$railyard" status --audit
check "down leaves nothing" down_leaves_nothing
exit "$failed"
