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
for tool in ping iperf3 jq curl nsenter ip; do
  command -v "$tool" >/dev/null || { echo "sites: no $tool (Debian: iputils-ping, iperf3, jq, curl, util-linux, iproute2)" >&2; exit 2; }
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
  out=$(up --web) || return 1
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

# The page: what a browser asks of the front, by the token.
page() { # METHOD TARGET [BODY]
  local base
  base=$("$railyard" web --lab "$lab" | grep -o 'http://[^/]*' | head -n1)
  curl -sN --fail-with-body -m "${seconds:-30}" -X "$1" -H "Authorization: Bearer $(<"$RAILYARD_STATE_DIR/$lab/token")" \
    ${3:+-H 'Content-Type: application/json' -d "$3"} "$base/v1$2"
}
last() { # NAME: the last event of this name that comes in three seconds
  { seconds=3 page GET '/events?every=250ms' || true; } | grep -A1 "^event: $1\$" | grep '^data: ' | tail -n1 | cut -c7-
}
page_has_all() {
  page GET /overview >"$work/overview" || return 1
  jq -e '.layout | (.nodes | length == 11 and all(.kind != "trunk") and (map(.site) | unique == ["a", "b", "c"])) and (.links | length == 12)' "$work/overview" || return 1
  [[ $(curl -s "$("$railyard" web --lab "$lab" | grep -o 'http://[^#]*' | head -n1)") == *"<title>"* ]]
}
check "one page for all: the nodes and links of all sites" page_has_all
# Of each site, and of a link between two of them by what either has counted.
page_has_load() {
  local from to pids=()
  for from in h1 h3 h5; do for to in h2 h4 h6; do on "$from" ping -q -i 0.02 -c 300 "$to" >/dev/null & pids+=($!); done; done
  sleep 1
  last sample >"$work/sample"
  wait "${pids[@]}"
  jq -e -n --slurpfile o "$work/overview" --slurpfile s "$work/sample" '
    ($o[0].layout.nodes | map({key: .name, value: .site}) | from_entries) as $site
    | [$o[0].layout.links | to_entries[] | {sites: [.value.a, .value.b | split(":")[0] | $site[.]], bps: $s[0].bps[2 * .key:2 * .key + 2]}]
    | ([.[] | select(.sites[0] == .sites[1] and (.bps | min) > 0).sites[0]] | unique == ["a", "b", "c"])
      and any(.[]; .sites[0] != .sites[1] and (.bps | min) > 0)
      and $s[0].up == "111111111111"' || { cat "$work/sample"; return 1; }
  page GET '/history' | jq -e '(.t | length) >= 2 and (.out | max) > 0' && page GET '/history?of=leaf3%3A1' | jq -e '(.t | length) >= 2 and (.out | max) > 0' || return 1
  say '%s' "$(jq -r '[.bps[]] | add / 1e6 | . * 10 | floor / 10 | "\(.) Mb/s on all links"' "$work/sample")"
}
check "the page has the load of all sites" page_has_load
page_faults() {
  page POST /faults '{"fault": "name: dark, on: leaf3:1, loss: 100%"}' || return 1
  ! on h1 ping -c 1 -W 1 h5 || { echo "the fault does nothing"; return 1; }
  last state | jq -e --slurpfile o "$work/overview" '.faults[] | select(.name == "dark" and (.removed | not))
    | .active and (.touches.links | map($o[0].layout.links[.] | .a, .b) | index("leaf3:1")) != null' || return 1
  page DELETE /faults/dark && pings h1 h5
}
check "a fault by the page at another site" page_faults
fetched() { page GET "/captures/$1/file" >"$work/page.pcapng"; }
page_captures() {
  local id
  id=$(page POST /captures '{"port": "leaf3:1", "direction": "both", "keep": true}' | jq -r .id) || return 1
  [[ $id == c.* ]] && pings h1 h5 || return 1
  page POST /captures/stop "{\"id\": \"$id\"}" && page GET /captures | jq -e --arg id "$id" '.captures | any(.id == $id)' || return 1
  until_so fetched "$id" || return 1
  "$railyard" decode "$work/page.pcapng" >"$work/decoded" && (( $(grep -ci icmp "$work/decoded") >= 2 )) && page DELETE "/captures/$id"
}
check "a capture by the page at another site" page_captures
# Taken down at one end, brought up at the other.
page_links() {
  local before ends
  before=$(page GET /happenings | jq '.happenings[-1].number // 0')
  mapfile -t ends < <(jq -r '(.layout.nodes | map({key: .name, value: .site}) | from_entries) as $site
    | [.layout.links[] | [.a, .b] | select((.[0] | split(":")[0] | $site[.]) != (.[1] | split(":")[0] | $site[.]))][0][]' "$work/overview")
  page POST /links "{\"link\": \"${ends[1]}\", \"up\": false}" || return 1
  last state | jq -e --arg a "${ends[0]}" '.links_down == [$a]' && [[ $(last sample | jq -r .up) == *0* ]] || return 1
  page POST /links "{\"link\": \"${ends[0]}\", \"up\": true}" || return 1
  [[ $(last sample | jq -r .up) == 111111111111 ]] || return 1
  page GET "/happenings?after=$before" | jq -e --arg a "${ends[0]}" --arg b "${ends[1]}" \
    '[.happenings[] | select(.kind == "link" and .element == $a) | .text] == ["link \($a) - \($b) down", "link \($a) - \($b) up"]'
}
check "a link between sites goes down and up by the page" page_links
page_asks() {
  local target
  for target in /captures /flows /collectives /diagnosis /settings /routes/leaf3 /pauses "/pauses?at=$(date +%s)" "/snapshot?at=$(date +%s)" \
      '/faults/log?links=true' /schema '/layout?folding=none' /openapi.json; do
    page GET "$target" >"$work/answer" && jq -e . "$work/answer" >/dev/null || { echo "$target"; return 1; }
  done
  [[ $(page GET /report/c.report.html) == *"<html"* ]]
}
check "the page's other requests are answered for all sites" page_asks
commands_for_all() {
  "$railyard" top --lab "$lab" --every 500ms >"$work/top" || return 1
  grep -q "^leaf1:1 " "$work/top" && grep -q "^leaf3:1 " "$work/top" || { cat "$work/top"; return 1; }
  "$railyard" report --lab "$lab" "$work/report" && ls "$work/report"/{a,b,c}/report.json
}
check "top and report are of all sites" commands_for_all

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
page_names_c() {
  last state | jq -e '.sites[] | select(.name == "c") | (.up | not) and (.why | length > 0)' || return 1
  last state | jq -e '[.hosts[] | select(.name == "h5" or .name == "h6").state == "down"] | length == 2 and all' || return 1
  last sample | jq -e --slurpfile o "$work/overview" '. as $s | [$o[0].layout.links | to_entries[] | {dead: (.value.a + " " + .value.b | test("leaf3:")), up: $s.up[.key:.key + 1]}]
    | all(if .dead then .up == "0" else true end) and any(.up == "1")' || return 1
  page GET /happenings | jq -e '.happenings | any(.kind == "site" and .element == "c")'
}
check "the page names it, too" page_names_c
# In a browser, where the page was built and there is one.
browser_shows() {
  local built=$root/build/release/tools/web/page
  rm -rf "$built/sites" && mkdir "$built/sites" && cp "$root"/tests/web/{browser,sites}.mjs "$built/sites/" || return 1
  (cd "$built" && LINK=$("$railyard" web --lab "$lab" | grep -o 'http://[^ ]*' | head -n1) timeout 300 node sites/sites.mjs)
}
if command -v node >/dev/null && command -v chromium >/dev/null && [[ -d $root/build/release/tools/web/page/dist ]]; then
  check "a browser shows what is away" browser_shows
else
  echo "skip  a browser shows what is away: needs chromium, Node.js and the page (Debian: chromium nodejs npm)"
fi
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
