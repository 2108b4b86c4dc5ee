#!/usr/bin/env bash
# Dashboards and alerts with Debian's Prometheus: rules and their unit tests; a live lab that is scraped; every query of every
# dashboard has an answer; no alert on the healthy lab; a link that is cut and one that loses frames are alerted.
#
# usage: tests/dashboards/run.sh
# Needs the release build (build/release), prometheus, jq and curl. No root.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=${BUILD:-$root/build/release}/bin/railyard
boards=$root/tools/dashboards
[[ -x $railyard ]] || { echo "dashboards: no $railyard; build it first" >&2; exit 2; }
for tool in prometheus promtool jq curl; do
  command -v "$tool" >/dev/null || { echo "dashboards: skipped: no $tool (Debian: prometheus jq curl)"; exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-dash.XXXXXX")
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
die() { printf 'dashboards: %s\n' "$*" >&2; exit 1; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

promtool check rules "$boards/alerts.yml" >"$work/rules" || { cat "$work/rules"; die "the rules are wrong"; }
promtool test rules "$boards/alerts_test.yml" >"$work/rules" || { cat "$work/rules"; die "the rules' tests fail"; }
echo "ok    rules, and their tests"

metrics=127.0.0.1:$(free_port) listen=127.0.0.1:$(free_port)
"$railyard" up "$root/tests/web/lab.yaml" --name dash --metrics "$metrics" --detach >/dev/null
curl -sf "http://$metrics/metrics" | promtool check metrics || die "promtool finds something in the metrics"
"$boards/run.sh" "$metrics" "$listen" >/dev/null 2>"$work/prometheus.log" &
prometheus_pid=$!
ask() { curl -sf --data-urlencode "query=$1" "http://$listen/api/v1/query"; }
alerts() { curl -sf "http://$listen/api/v1/alerts" | jq -r '.data.alerts[] | select(.state == "firing") | .labels.alertname' | sort -u; }
until_it_is() { # SECONDS COMMAND...
  local end=$((SECONDS + $1)); shift
  until "$@"; do (( SECONDS < end )) || return 1; sleep 0.5; done
}
scraped() { [[ $(ask 'count_over_time(railyard_simulated_seconds_total[1m]) > 8' | jq '.data.result | length') == 1 ]]; }
until_it_is 60 scraped || { cat "$work/prometheus.log"; die "Prometheus did not scrape the lab"; }

# Answers, and most of them with values: what has not occurred has none.
all=0 empty=0
for board in fabric switch host collectives; do
  jq -e '.uid and .title and .schemaVersion and (.panels | length > 0) and ([.panels[].id] | length == (unique | length))' \
    "$boards/$board.json" >/dev/null || die "$board.json is no dashboard"
  while IFS= read -r query; do
    query=${query//\$switch/leaf-r1} query=${query//\$host/h1}
    answer=$(ask "$query") || die "$board.json: Prometheus refuses: $query"
    all=$((all + 1))
    [[ $(jq '.data.result | length' <<<"$answer") != 0 ]] || empty=$((empty + 1))
  done < <(jq -r '.panels[].targets[].expr' "$boards/$board.json")
done
(( all >= 40 && empty <= 16 )) || die "$empty of $all queries have no values"
echo "ok    $all queries have answers, $((all - empty)) of them values"

# Its incast is paused, and machines are slow; alerts.sh has a lab that is healthy in every way.
healthy=$(alerts | grep -vx -e RailyardPfcSteady -e RailyardEcnSilentWhilePfcFires -e RailyardEngineBehind || true)
[[ -z $healthy ]] || die "alerts on a healthy lab: $healthy"
echo "ok    nothing is alerted on the healthy lab"
paused() { [[ $(ask 'sum(railyard_pfc_pause_seconds_total{switch!=""} or railyard_pfc_pause_seconds_total) > 0' | jq '.data.result | length') == 1 ]]; }
until_it_is 60 paused || die "nothing was ever paused, says railyard_pfc_pause_seconds_total"
echo "ok    pauses have a time"

# A virtual run, in Prometheus' own storage: what the report says of it is what is read there.
"$railyard" run "$root/topologies/scenarios/roce-incast.yaml" --duration 1ms --metrics "$work/run.om" --metrics-every 100us \
  --metrics-stretch 1000 --json -q >"$work/run.json"
promtool tsdb create-blocks-from openmetrics "$work/run.om" "$work/blocks" >"$work/blocks.log" 2>&1 || { cat "$work/blocks.log"; die "promtool refuses the metrics of a run"; }
mkdir -p "$work/blocks/wal"  # without it promtool does not look
stored=$(promtool tsdb dump --match='railyard_flow_delivered_bytes_total' "$work/blocks" | awk '{ print $(NF - 1) }' | tail -n 1)
said=$(jq '[.flows[].delivered_bytes] | add' "$work/run.json")
awk -v a="$stored" -v b="$said" 'BEGIN { exit !(a == b && b > 0) }' || die "stored: $stored bytes delivered; the report has $said"
echo "ok    the metrics of a virtual run, backfilled"
"$railyard" link down leaf-r1:9 >/dev/null
"$railyard" fault add 'on: leaf-r3:2, loss: 20%' >/dev/null
fires() { alerts | grep -qx "$1"; }
for alert in RailyardLinkDown RailyardFramesDamaged; do
  until_it_is 60 fires "$alert" || die "$alert does not fire"
  echo "ok    $alert fires"
done
