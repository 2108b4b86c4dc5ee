#!/usr/bin/env bash
# Every alert for real: labs with the mistake that it is about, all at once, and a healthy one. Each alert fires on its lab; on
# the healthy one none does. The rules are those of tools/dashboards/alerts.yml with a shorter `for`, so that nobody waits for
# minutes; their expressions are the same.
#
# usage: tests/dashboards/alerts.sh
# Needs the release build (build/release), prometheus, jq and curl. No root.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=${BUILD:-$root/build/release}/bin/railyard
rules=$root/tools/dashboards/alerts.yml
scenarios=$root/topologies/scenarios
[[ -x $railyard ]] || { echo "alerts: no $railyard; build it first" >&2; exit 2; }
for tool in prometheus promtool jq curl; do
  command -v "$tool" >/dev/null || { echo "alerts: skipped: no $tool (Debian: prometheus jq curl)"; exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-alerts.XXXXXX")
export RAILYARD_STATE_DIR=$work/state
mkdir -m 700 "$RAILYARD_STATE_DIR"
prometheus_pid=0
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  (( prometheus_pid )) && kill "$prometheus_pid" 2>/dev/null
  wait || true
  "$railyard" down --all >/dev/null 2>&1 || true
  rm -rf -- "$work"
}
trap cleanup EXIT
die() { printf 'alerts: %s\n' "$*" >&2; exit 1; }
mapfile -t ports < <(python3 -c '
import socket
s = [socket.socket() for _ in range(12)]
for x in s: x.bind(("127.0.0.1", 0))
for x in s: print(x.getsockname()[1])')

sed 's/^\( *for: \).*/\11s/' "$rules" >"$work/alerts.yml"
diff <(grep -v '^ *for:' "$rules") <(grep -v '^ *for:' "$work/alerts.yml") >/dev/null || die "more than \`for\` differs"

# What each alert is about, as a lab: slow enough for many of them on one machine, but for the one that is too fast.
targets=() listen=127.0.0.1:${ports[0]} used=1
lab() { # NAME FILE SET...
  local name=$1 file=$2 metrics=127.0.0.1:${ports[$used]} sets=() one; shift 2
  for one in "$@"; do sets+=(--set "$one"); done
  used=$((used + 1))
  "$railyard" up "$file" --name "$name" --metrics "$metrics" --detach --set run.memory=64MiB "${sets[@]}" >/dev/null || die "$name did not come up"
  targets+=("{ targets: [\"$metrics\"], labels: { instance: \"$name\" } }")
}
slow=run.scale=1/2000
cat >"$work/healthy.yaml" <<'END'
name: healthy
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 4 }
traffic: [ { name: t, pattern: pairs, from: [h1, h2, h3, h4], to: [h5, h6, h7, h8], rate: 5Gbps, dscp: 26 } ]
routing: { protocol: instant }
run: { clock: wall }
END
lab healthy "$work/healthy.yaml" "$slow"
cat >"$work/marks.yaml" <<'END'
name: marks
topology: { preset: leaf-spine, leaves: 1, hosts-per-leaf: 4 }
qos: { default: { classes: { 3: { lossless: true, xoff: 200KB, ecn: { kmin: 10KB, kmax: 20KB } } } } }
traffic: [ { name: incast, pattern: incast, from: [h2, h3, h4], to: h1, dscp: 26 } ]
run: { clock: wall }
END
lab pfc "$work/marks.yaml" "$slow"
# What s1 has marked needs no mark of s2, which pauses s1.
cat >"$work/chain.yaml" <<'END'
name: chain
nodes: { s1: { kind: switch }, s2: { kind: switch }, h1: { kind: host }, h2: { kind: host }, h3: { kind: host } }
links: [ [h1:1, s1:1], [h2:1, s1:2], [s1:3, s2:1], [s2:2, h3:1, { rate: 50Gbps }] ]
qos: { default: { classes: { 3: { lossless: true, xoff: 200KB, ecn: { kmin: 10KB, kmax: 20KB } } } } }
traffic: [ { name: incast, pattern: incast, from: [h1, h2], to: h3, dscp: 26 } ]
run: { clock: wall }
END
lab chain "$work/chain.yaml" "$slow"
lab silent "$scenarios/pfc-incast.yaml" "$slow" 'qos.default.classes.3.ecn=off'
lab headroom "$scenarios/headroom.yaml" "$slow" 'qos.default.classes.3.headroom=20KB'
lab watchdog "$scenarios/pfc-watchdog.yaml" "$slow" 'traffic.storm.bytes=' 'traffic.victim.bytes='
lab deadlock "$scenarios/deadlock-ring.yaml" "$slow"
lab links "$work/healthy.yaml" "$slow" name=links
lab behind "$root/topologies/incast-8to1.yaml" run.scale=10

cat >"$work/prometheus.yml" <<END
global: { scrape_interval: 500ms, evaluation_interval: 500ms }
rule_files: [ "$work/alerts.yml" ]
scrape_configs:
  - job_name: railyard
    static_configs: [ $(IFS=,; printf '%s' "${targets[*]}") ]
END
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --web.listen-address="$listen" \
  --log.level=warn >"$work/prometheus.log" 2>&1 &
prometheus_pid=$!

alerts() { curl -sf "http://$listen/api/v1/alerts" | jq -r '.data.alerts[] | select(.state == "firing") | "\(.labels.instance) \(.labels.alertname)"' | sort -u; }
until_it_is() { # SECONDS COMMAND...
  local end=$((SECONDS + $1)); shift
  until "$@"; do (( SECONDS < end )) || return 1; sleep 0.5; done
}
up() { curl -sf "http://$listen/api/v1/query" --data-urlencode 'query=count(railyard_port_up) by (instance)' | jq -e ".data.result | length == ${#targets[@]}" >/dev/null; }
until_it_is 60 up || { cat "$work/prometheus.log"; die "Prometheus did not scrape all labs"; }

"$railyard" link down spine1:1 --lab links >/dev/null
"$railyard" fault add 'on: leaf2:1, flap: { down: 300us, up: 600us }' --lab links >/dev/null  # every 1.8 s of wall time
"$railyard" fault add 'on: "leaf2:2 in", loss: 20%' --lab links >/dev/null
"$railyard" link down leaf2:3 --lab links >/dev/null  # there is no other way to h7

fires() { alerts | grep -qx "$1 $2"; }
expect() { # LAB ALERT
  until_it_is 90 fires "$1" "$2" || { alerts; die "$2 does not fire on lab $1"; }
  echo "ok    $2 fires on lab $1"
}
expect links RailyardLinkDown
expect links RailyardFramesDamaged
expect silent RailyardPfcSteady
expect silent RailyardEcnSilentWhilePfcFires
expect headroom RailyardLosslessDrops
expect watchdog RailyardPfcWatchdog
expect deadlock RailyardDeadlock
expect links RailyardBlackHole
expect links RailyardLinkFlapping
expect behind RailyardEngineBehind
both() { curl -sf "http://$listen/api/v1/query" --data-urlencode 'query=sum(railyard_pfc_frames_total{instance="pfc",switch!="",direction="sent",kind="xoff"}) > 0 and sum(railyard_ecn_marked_packets_total{instance="pfc"}) > 0' | jq -e '.data.result | length == 1' >/dev/null; }
until_it_is 60 both || die "lab pfc neither pauses nor marks"
[[ $(alerts | grep '^pfc RailyardEcnSilent' || true) == '' ]] || die "a fabric that marks is said to be silent"
passes_on() { curl -sf "http://$listen/api/v1/query" --data-urlencode 'query=sum(rate(railyard_pfc_frames_total{instance="chain",switch="s2",direction="sent",kind="xoff"}[30s])) > 0 and sum(rate(railyard_ecn_came_marked_packets_total{instance="chain",switch="s2"}[30s])) > 0 and sum(rate(railyard_ecn_marked_packets_total{instance="chain",switch="s2"}[30s])) == 0' | jq -e '.data.result | length == 1' >/dev/null; }
until_it_is 90 passes_on || die "lab chain: s2 does not pause, or marks what has been marked"
sleep 3
[[ $(alerts | grep '^chain RailyardEcnSilent' || true) == '' ]] || die "a switch behind one that has marked everything is said to be silent"
echo "ok    a switch behind one that has marked everything is not said to be silent"
# What a loaded machine does to a lab is no mistake of the lab.
wrong=$(alerts | grep '^healthy ' | grep -v RailyardEngineBehind || true)
[[ -z $wrong ]] || die "on the healthy lab: $wrong"
echo "ok    no alert on the healthy lab"
[[ $(grep -c '^ *- alert:' "$rules") == 10 ]] || die "an alert has no lab here: give it one"
