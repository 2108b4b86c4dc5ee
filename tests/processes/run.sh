#!/usr/bin/env bash
# One lab in several processes under mpirun: the report, the digest and the files of one process; and what ends such a run.
#
# usage: tests/processes/run.sh [--all]
# --all: each lab of topologies/scenarios/ too. Needs the release build (build/release) and Open MPI.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
build=${BUILD:-$root/build/release}
railyard=$build/bin/railyard
for tool in jq mpirun; do command -v "$tool" >/dev/null || { echo "processes: no $tool (Debian: jq, openmpi-bin)" >&2; exit 2; }; done
[[ -x $railyard ]] || { echo "processes: no $railyard; build it first" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-processes.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
# shellcheck source=tests/live/checks.sh
source "$root/tests/live/checks.sh"
# More processes than processors, and perhaps as root in a container.
mpi() { timeout 300 mpirun --allow-run-as-root --oversubscribe --bind-to none "$@"; }
# All but what a run costs.
comparable() {
  jq 'del(.engine.cpu_seconds, .engine.wall_seconds, .engine.peak_rss_bytes, .engine.processes, .summary.cpu_seconds)' "$1"
}

same() { # N FILE OPTIONS...: N processes print the report of one, with the same exit code
  local n=$1 one=0 several=0; shift
  "$railyard" run "$@" --digest --json >"$work/one.json" 2>"$work/one.err" || one=$?
  mpi -n "$n" "$railyard" run "$@" --digest --json >"$work/several.json" 2>"$work/several.err" || several=$?
  [[ $one == "$several" ]] || { echo "exit codes $one and $several"; cat "$work/several.err"; return 1; }
  diff <(comparable "$work/one.json") <(comparable "$work/several.json") || return 1
  jq -e ".engine.processes | length == $n and (map(.devices) | min > 0) and (map(.frames_sent) | add > 0)" "$work/several.json"
  say 'digest %s, %s frames between processes' "$(jq -r .trace_digest "$work/several.json")" \
    "$(jq '[.engine.processes[].frames_sent] | add' "$work/several.json")"
}

for n in 2 3 4; do
  check "permutation of 128 hosts, 20 us, $n processes" same "$n" "$root/topologies/permutation-128.yaml" --duration 20us
done
check 'a crash and routing that heals, 3 processes' same 3 "$root/topologies/scenarios/crash.yaml"
check 'UET, 2 processes of 2 workers' same 2 "$root/topologies/scenarios/adaptive-permutation.yaml" --workers 2
check 'a trace of a training step, 2 processes' same 2 "$root/topologies/scenarios/chakra-trace.yaml"
if [[ ${1:-} == --all ]]; then
  for lab in "$root"/topologies/scenarios/*.yaml; do
    check "$(basename "$lab"), 3 processes" same 3 "$lab"
  done
fi

files() {
  local who
  for who in one several; do
    mkdir "$work/$who"
    local start=()
    [[ $who == several ]] && start=(mpi -n 3)
    "${start[@]+"${start[@]}"}" "$railyard" run "$root/topologies/incast-8to1.yaml" --duration 20us --quiet \
      --capture "leaf1:1=$work/$who/leaf.pcapng" --capture "h5:1=$work/$who/h5.pcapng" --series "$work/$who/queues.csv" \
      --flow-series "$work/$who/flows.csv" --flow-csv "$work/$who/table.csv" --report "$work/$who/report" >"$work/$who.txt"
  done
  for file in leaf.pcapng h5.pcapng queues.csv flows.csv table.csv report/lab.yaml; do
    [[ -s $work/one/$file ]] || { echo "$file is empty"; return 1; }
    cmp "$work/one/$file" "$work/several/$file" || return 1
  done
  grep -c '^Process [012]: ' "$work/several.txt" | grep -qx 3
}
check 'captures, series, tables, report' files

# Packets that arrive, are dropped, lost, and under way in the end, with little room for samples; and rounds of probes, one after a link has become slow.
cat >"$work/int.yaml" <<'END'
name: int
topology: { preset: leaf-spine, leaves: 4, spines: 2, hosts-per-leaf: 4 }
traffic:
  - { name: r, transport: roce, pattern: permutation, bytes: 2MB }
  - { name: g, pattern: incast, from: [h5, h9, h13], to: h1, rate: 60Gbps }
faults:
  - { name: lossy, on: "leaf2:5", at: 10us, for: 300us, loss: 2% }
  - { name: cut, on: "leaf3:5", at: 60us, for: 100us, down: true }
  - { name: crash, on: spine2, at: 100us, for: 50us, crash: true }
run: { duration: 500us, memory: 128MiB, int: { one-in: 3, packets: 60 } }
END
cat >"$work/probes.yaml" <<'END'
name: probes
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 2 }
traffic: [ { name: t, transport: roce, pattern: permutation, bytes: 1MB } ]
probe: { every: 20ms, frames: 16 }
faults: [ { name: slow, on: "leaf2:3", at: 90ms, rate: 1/2 } ]
run: { duration: 125ms, memory: 128MiB }
END
int_of() { # N OPTIONS...: the records of N processes are those of one, and so is the report
  local n=$1; shift
  same "$n" "$work/int.yaml" "$@" --int "$work/several.jsonl" || return 1
  "$railyard" run "$work/int.yaml" --int "$work/one.jsonl" --quiet >/dev/null || true
  [[ $(wc -l <"$work/one.jsonl") -gt 1000 ]] || { echo 'few records'; return 1; }
  jq -e '.int | .arrived > 0 and .dropped > 0 and .lost > 0 and .under_way > 0 and .not_kept > 0' "$work/several.json" || return 1
  cmp "$work/one.jsonl" "$work/several.jsonl"
}
for n in 2 3; do check "in-band telemetry, $n processes" int_of "$n"; done
check 'in-band telemetry, 2 processes of 2 workers' int_of 2 --workers 2
probes_of() { # N OPTIONS...
  same "$@" || return 1
  jq -e '.probes | .rounds == 6 and .skipped == 0 and .slow > 0' "$work/several.json"
}
for n in 2 3; do check "probes, $n processes" probes_of "$n" "$work/probes.yaml"; done
check 'probes, 2 processes of 2 workers' probes_of 2 "$work/probes.yaml" --workers 2

cat >"$work/rping.yaml" <<'END'
name: rping
topology: { preset: leaf-spine, leaves: 3, spines: 2, hosts-per-leaf: 2 }
hosts: { default: { roce: { services: [rping-server], ack-timeout: 8, cm-response-timeout: 10 } } }
traffic:
  - { name: ping, from: h1, to: h4, transport: roce, operation: rping, rping: { size: 5000B, count: 40 } }
  - { name: back, from: h6, to: h1, transport: roce, operation: rping, rping: { count: 20 } }
  - { name: g, pattern: permutation, bytes: 1MB }
run: { memory: 128MiB }
END
pings() {
  same 3 "$work/rping.yaml" || return 1
  jq -e '.rping | length == 2 and all(.state == "done" and .pings >= 20 and .corrupted == 0)' "$work/several.json"
}
check 'rping, 3 processes' pings

# The frames that h9 and h10 have sent, replayed by hosts made of them; h1 writes what it gets.
replays() {
  "$railyard" run "$root/topologies/incast-8to1.yaml" --duration 20us --quiet --capture "h9:1:out=$work/h9.pcapng" \
    --capture "h10:1:out=$work/h10.pcapng" >/dev/null || return 1
  cat >"$work/replay.yaml" <<END
name: replay
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 8 }
nodes:
  h9: { attach: { pcap: { in: $work/h9.pcapng } } }
  h10: { attach: { pcap: { in: $work/h10.pcapng } } }
  h1: { attach: { pcap: { out: $work/h1.pcap } } }
traffic: [ { name: t, from: h2, to: h5, bytes: 200KB } ]
run: { memory: 128MiB }
END
  "$railyard" run "$work/replay.yaml" --quiet >/dev/null || return 1
  [[ $(stat -c %s "$work/h1.pcap") -gt 10000 ]] || { echo 'little has arrived'; return 1; }
  mv "$work/h1.pcap" "$work/h1-one.pcap"
  same 3 "$work/replay.yaml" && cmp "$work/h1.pcap" "$work/h1-one.pcap"
}
check 'hosts made of capture files, 3 processes' replays

refused() { # EXIT-CODE TEXT MPIRUN-ARGUMENTS...: one line says TEXT; what mpirun says itself is not counted
  local code=$1 text=$2 got=0; shift 2
  mpi "$@" >"$work/out" 2>"$work/err" || got=$?
  [[ $got == "$code" ]] || { echo "exit code $got"; cat "$work/err"; return 1; }
  [[ $(grep -c '^railyard' "$work/err") == 1 ]] || { echo 'not one line:'; cat "$work/err"; return 1; }
  grep -qF -- "$text" "$work/err" || { echo "not: $text"; cat "$work/err"; return 1; }
  [[ ! -s $work/out ]]
}
cat >"$work/three.yaml" <<'END'
name: three
topology: { preset: leaf-spine, leaves: 1, spines: 0, hosts-per-leaf: 2 }
traffic: [ { name: t, pattern: permutation, bytes: 1MB } ]
run: { memory: 64MiB }
END
sed 's/1MB/2MB/' "$work/three.yaml" >"$work/other.yaml"
sed 's/preset/presett/' "$work/three.yaml" >"$work/wrong.yaml"
check 'more processes than devices' refused 2 '4 processes for 3 devices' -n 4 "$railyard" run "$work/three.yaml"
check 'another file in one process' refused 2 'process 1 has another fabric than process 0' \
  -n 1 "$railyard" run "$work/three.yaml" : -n 1 "$railyard" run "$work/other.yaml"
check 'a file that one process cannot read' refused 3 "$work/none.yaml" \
  -n 1 "$railyard" run "$work/three.yaml" : -n 1 "$railyard" run "$work/none.yaml"
check 'a wrong file' refused 3 "wrong.yaml:2" -n 3 "$railyard" run "$work/wrong.yaml"
check 'the wall clock' refused 2 'run.clock is wall' -n 2 "$railyard" run "$work/three.yaml" --clock wall
check 'a page' refused 2 '--web' -n 2 "$railyard" run "$work/three.yaml" --web
check 'out of packet memory in one process' refused 1 'out of packet memory' \
  -n 2 "$railyard" run "$root/topologies/permutation-128.yaml" --set run.memory=1MiB

check 'results that cannot be written' refused 1 "$work/none/table.csv" \
  -n 3 "$railyard" run "$work/three.yaml" --flow-csv "$work/none/table.csv"
touch "$work/a-file"
check 'a folder that cannot be made' refused 1 "$work/a-file/report" -n 3 "$railyard" run "$work/three.yaml" --report "$work/a-file/report"
check 'an option that cannot be' refused 2 '--series-every' -n 3 "$railyard" run "$work/three.yaml" --series-every 1us

mkdir -p "$work/tree/bin"
cp "$railyard" "$work/tree/bin/railyard"
check 'without the plug-in' refused 1 "$work/tree/lib/railyard/librailyard-mpi.so is missing" \
  -n 1 "$work/tree/bin/railyard" run "$work/three.yaml" : -n 1 false
mkdir -p "$work/tree/lib/railyard"
echo 'no library' >"$work/tree/lib/railyard/librailyard-mpi.so"

hit() { # SIGNAL PROCESSES OPTIONS...: starts a long run, and sends one of its processes a signal when all are under way
  local signal=$1 n=$2 started="^$railyard run $root/topologies/permutation-128.yaml --duration 10s"; shift 2
  mpi -n "$n" "$railyard" run "$root/topologies/permutation-128.yaml" --duration 10s "$@" >"$work/out" 2>"$work/err" &
  run=$!
  until_so pgrep -f "$started" >/dev/null
  sleep 2
  kill "-$signal" "$(pgrep -f "$started" | tail -n1)"
}
killed() { # one that dies ends all
  local run=
  hit KILL 3 --quiet
  if wait "$run"; then echo 'it ended as if nothing had happened'; return 1; fi
  ! pgrep -f "^$railyard run $root/topologies/permutation-128.yaml --duration 10s" || { echo 'left running'; return 1; }
}
check 'a process that is killed ends all' killed

interrupted() { # Ctrl-C: one report of all
  local run=
  hit INT 2 --json
  wait "$run" || true
  jq -e '.run.interrupted and .audit.balanced' "$work/out"
}
check 'an interrupt ends all with one report' interrupted
exit "$failed"
