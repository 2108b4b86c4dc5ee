#!/usr/bin/env bash
# A lab over three machines: three daemons in three network namespaces that a bridge joins, and one command for all.
#
# usage: tests/live/sites.sh
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=$root/build/release/bin/railyard
(( $# == 0 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2; }
(( EUID == 0 )) || { echo "sites: skipped: needs root"; exit 77; }
for tool in ping iperf3 jq nsenter ip; do
  command -v "$tool" >/dev/null || { echo "sites: no $tool (Debian: iputils-ping, iperf3, jq, util-linux, iproute2)" >&2; exit 2; }
done
[[ -x $railyard ]] || { echo "sites: no $railyard; build it first" >&2; exit 2; }
lab=sites-$$ # beside others on this machine
net=rs$$
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-sites.XXXXXX")
export RAILYARD_STATE_DIR=$work/state
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  "$railyard" down --all >/dev/null 2>&1 || true
  local ns; for ns in net a b c; do ip netns del "$net-$ns" 2>/dev/null || true; done
  rm -rf -- "$work"
}
trap cleanup EXIT
. "$here/checks.sh"

ip netns add "$net-net"
ip -n "$net-net" link add br0 type bridge
ip -n "$net-net" link set br0 up
machine() { # NAME NUMBER: a namespace at the bridge
  ip netns add "$net-$1"
  ip -n "$net-$1" link add eth0 type veth peer name "$1" netns "$net-net"
  ip -n "$net-$1" addr add "192.0.2.$2/24" dev eth0
  ip -n "$net-$1" link set lo up; ip -n "$net-$1" link set eth0 up
  ip -n "$net-net" link set dev "$1" master br0 up
}
machine a 1
machine b 2
up() { # OPTION...: the lab, in the place of ssh by nsenter
  "$railyard" up "$root/topologies/labs/three-sites.yaml" --name "$lab" --site a,b,c --detach \
    --ssh "nsenter --net=/run/netns/$net-{site}" --remote-program "$railyard" --set trunks.timeout=3s "$@" </dev/null
}
on() { local host=$1; shift; "$railyard" exec --lab "$lab" "$host" -- "$@" </dev/null; }
status() { "$railyard" status --lab "$lab" --json | jq -r "$1"; }
is() { # VALUE FILTER: what the status says
  local now
  now=$(status "$2")
  [[ $now == "$1" ]] || { printf '%s is %s, not %s\n' "$2" "$now" "$1"; return 1; }
}
nothing_runs() {
  local left
  left=$(pgrep -af "railyardd .*--name $lab-" || true; pgrep -af "railyard (relay|front).*$lab" || true
    ip netns list | grep "^ry-$lab" || true; ls "$RAILYARD_STATE_DIR" 2>/dev/null || true)
  [[ -z $left ]] || { printf 'left: %s\n' "$left"; return 1; }
}
refused() { # WORDS COMMAND...: one line of error has them, and nothing runs then
  local words=$1 out; shift
  ! out=$("$@" 2>&1) || { echo "not refused"; return 1; }
  printf '%s\n' "$out"
  [[ $out == *"$words"* && $(wc -l <<<"$out") == 1 ]] && until_so nothing_runs
}

check "a site that cannot be reached: one error, nothing runs" refused "site c: cannot be reached" up
machine c 3
check "a link without delay across sites: one error, nothing runs" \
  refused "crosses from site a to site" up --set trunks.delay= --set topology.fabric-link.delay=0
ip -n "$net-net" link set dev c down
check "links that do not come up: one error, nothing runs" refused "no message from the remote end" up
ip -n "$net-net" link set dev c up

comes_up() {
  local out
  out=$(up) || return 1
  printf '%s\n' "$out"
  [[ $out == *"lab '$lab' is up: 5 switches, 6 hosts, 12 links; sites a (2 hosts), b (2 hosts), c (2 hosts)"* ]]
}
check "one command starts all" comes_up
all_is_there() {
  is true '[.sites[].up] | all' && is true '[.trunks[].up] | all' && is 6 '.hosts | length' || return 1
  say '%s' "$(status '[.trunks[].round_trip_ns] | "round trips \(min / 1000 | floor) to \(max / 1000 | floor) us"')"
}
check "one status for all" all_is_there
# The true offset is unknown; both ways round it has to be the same, to within the errors that are stated.
clocks_agree() {
  "$railyard" status --lab "$lab" --json >"$work/status"
  jq -e '[.sites[1:][].clock | .error_ns > 0 and .error_ns < 100000000 and .relative_to == "a"] | all' "$work/status" || return 1
  jq -e '[.trunks[] | {key: ([.site, .to_site] | sort | join("-")), sign: (if .site < .to_site then 1 else -1 end), o: .clock_offset_ns,
          e: .clock_error_ns}] | group_by(.key) | map((map(.sign * .o) | max - min) <= 2 * (map(.e) | max) + 1000000) | all' "$work/status" || return 1
  say '%s' "$(jq -r '[.sites[1:][].clock.error_ns] | "errors \(map(. / 1000 | floor | tostring) | join(" and ")) us"' "$work/status")"
}
check "clocks between sites are measured" until_so clocks_agree
pings() { on "$1" ping -c 2 -i 0.2 -W 5 "$2"; }
everybody_pings() { local from to; until_so pings h1 h5 && until_so pings h3 h5 || return 1; for from in h1 h3 h5; do for to in h2 h4 h6; do pings "$from" "$to" || return 1; done; done; }
check "hosts of all sites reach each other" everybody_pings
traffic() {
  on h5 iperf3 -s -D -1 && sleep 1 && on h1 iperf3 -c h5 -t 2 -b 50M --json >"$work/iperf" || return 1
  jq -e '.end.sum_received.bits_per_second > 20e6' "$work/iperf"
  say '%s' "$(jq -r '.end.sum_received.bits_per_second / 1e6 | floor | "\(.) Mb/s"' "$work/iperf")"
}
check "TCP across sites" traffic

fault() {
  "$railyard" fault add --lab "$lab" "name: cut, on: leaf3:1, loss: 100%" || return 1
  ! on h1 ping -c 1 -W 1 h5 || { echo "the fault does nothing"; return 1; }
  "$railyard" fault ls --lab "$lab" --json | jq -e '.faults[] | select(.name == "cut") | .site == "c" and .active' || return 1
  "$railyard" fault rm --lab "$lab" cut && pings h1 h5
}
check "a fault at another site" fault
says_no_node() { local out; ! out=$("$railyard" link down --lab "$lab" leaf9:1 2>&1) && [[ $out == *"there is no node 'leaf9'; did you mean"* ]]; }
check "a node that no site has" says_no_node
captured() {
  "$railyard" capture --lab "$lab" leaf3:1 --out -c 3 -w "$work/leaf3.pcapng" & local capture=$!
  sleep 1; on h1 ping -c 5 -i 0.2 -W 5 h5 || return 1
  wait "$capture" && "$railyard" decode "$work/leaf3.pcapng" >"$work/decoded" && (( $(grep -ci icmp "$work/decoded") >= 1 ))
}
check "a capture at another site" captured

# leaf1 has one way to each spine. When that between leaf3 and spine1 is down, leaf1 must not send to spine1 what is for
# leaf3, whichever sites run these.
hops() { # how many next hops leaf1 has to the hosts of leaf3
  "$railyard" routes --lab "$lab" leaf1 --json |
    jq '[.switches[] | select(.node == "leaf1").routes[] | select(.behind == "leaf3" and (.prefix | contains(":") | not)) | .next_hops | length] | max'
}
has_hops() { [[ $(hops) == "$1" ]]; }
reroutes() {
  has_hops 2 || { echo "next hops: $(hops)"; return 1; }
  "$railyard" link down --lab "$lab" leaf3:3 && until_so has_hops 1 && everybody_pings || return 1
  "$railyard" link up --lab "$lab" leaf3:3 && until_so has_hops 2
}
check "all sites lead around a link that is down" reroutes

c_is_named() {
  is false '.sites[] | select(.name == "c").up' && is true '[.hosts[] | select(.name == "h5" or .name == "h6").state == "down"] | all'
}
dies() {
  kill -KILL "$(head -n1 "$RAILYARD_STATE_DIR/$lab-c/lock")" && until_so c_is_named || return 1
  "$railyard" status --lab "$lab" | grep "site c IS DOWN" || return 1
  "$railyard" status --lab "$lab" | grep "h5 is down" || return 1
  is true '[.sites[] | select(.name != "c").up] | all' || return 1
  until_so pings h1 h3
}
check "a site that dies is named; the others stay" dies
goes_down() { "$railyard" down "$lab" && nothing_runs; }
check "one command stops all, and nothing is left" goes_down

front_is_gone() { [[ $("$railyard" ls --json | jq -r --arg n "$lab" '.[] | select(.name == $n).running') == false ]]; }
front_dies() {
  up >/dev/null || return 1
  kill -KILL "$(head -n1 "$RAILYARD_STATE_DIR/$lab/lock")"
  until_so front_is_gone || return 1
  "$railyard" down "$lab" && nothing_runs
}
check "a front that is killed: down stops all sites" front_dies
exit "$failed"
