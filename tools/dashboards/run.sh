#!/usr/bin/env bash
# Starts Prometheus for a lab that is up with --metrics, with the alerts of this folder; and Grafana, where it is installed,
# with the dashboards. Loopback only, nothing is left behind. Ctrl-C ends it.
#
# usage: tools/dashboards/run.sh [METRICS [PROMETHEUS]]     (default: 127.0.0.1:9420 127.0.0.1:9090)
# Debian: prometheus. Grafana is not in Debian: https://grafana.com/docs/grafana/latest/setup-grafana/installation/debian/
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
case ${1-} in -h|--help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit ;; esac
metrics=${1:-127.0.0.1:9420} listen=${2:-127.0.0.1:9090}
command -v prometheus >/dev/null || { echo "dashboards: no prometheus (Debian: prometheus)" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-dashboards.XXXXXX")
pids=()
# shellcheck disable=SC2317  # called by the trap
cleanup() { (( ${#pids[@]} )) && kill "${pids[@]}" 2>/dev/null; wait; rm -rf -- "$work"; }
trap cleanup EXIT
trap 'exit 0' INT TERM
cat > "$work/prometheus.yml" <<END
global: { scrape_interval: 1s, evaluation_interval: 1s }
rule_files: [ "$here/alerts.yml" ]
scrape_configs:
  - job_name: railyard
    static_configs: [{ targets: ["$metrics"] }]
END
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --storage.tsdb.retention.time=2h \
  --web.listen-address="$listen" --log.level=warn &
pids+=($!)
echo "Prometheus: http://$listen/alerts"
grafana=$(command -v grafana-server || true)
if [[ -n $grafana ]]; then
  mkdir -p "$work/provisioning/datasources" "$work/provisioning/dashboards"
  cat > "$work/provisioning/datasources/railyard.yml" <<END
apiVersion: 1
datasources: [{ name: Prometheus, type: prometheus, url: "http://$listen", isDefault: true }]
END
  cat > "$work/provisioning/dashboards/railyard.yml" <<END
apiVersion: 1
providers: [{ name: railyard, type: file, options: { path: "$here" } }]
END
  GF_SERVER_HTTP_ADDR=127.0.0.1 GF_PATHS_DATA=$work/grafana GF_PATHS_PROVISIONING=$work/provisioning \
    GF_AUTH_ANONYMOUS_ENABLED=true "$grafana" --homepath "${GF_HOMEPATH:-/usr/share/grafana}" >"$work/grafana.log" 2>&1 &
  pids+=($!)
  echo "Grafana: http://127.0.0.1:3000/dashboards"
else
  echo "No Grafana here; import $here/*.json into yours"
fi
wait -n
