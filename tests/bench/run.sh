#!/usr/bin/env bash
# All benchmarks, in one table: medians of several runs, with the bars they are measured against.
#
# usage: tests/bench/run.sh [--runs N] [--json] [NAME...]
#   --runs N   runs of each figure (default 5)
#   NAME       only these: virtual large payload workers features wall vhost memif ports pair rate live live-speed scrape start memory parts qps
#              roce uet credit recovery uet-numbers uet-numbers-large applications jobs
#   --json     of uet-numbers and uet-numbers-large: a line of JSON for each row
# Builds what it measures in build/release. A bar that is missed is said; the exit status is 1 then.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
. "$here/../../tools/common.sh"
bin=$root/build/release/bin
railyard=$bin/railyard
runs=5
wanted=()
json=
while (( $# )); do
  case $1 in
    --runs) runs=${2:?--runs needs a number}; shift 2 ;;
    --json) json=1; shift ;;
    -h|--help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) wanted+=("$1"); shift ;;
  esac
done
install_packages "${packages_build[@]}" "${packages_test[@]}" "${packages_bench[@]}"
configure release -DRAILYARD_BENCH=ON
build release railyard hop_bench memory_peer port_bench qp_bench
if (( EUID == 0 )); then
  install_packages "${packages_verbs[@]}" "${packages_libfabric[@]}"
  build release railyard_rdmav34 railyard_fi railyard_rdmacm_preload
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-bench.XXXXXX")
pids=()
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  for p in "${pids[@]+"${pids[@]}"}"; do kill -KILL "$p" 2>/dev/null || true; done
  [[ -z ${app_lab:-} ]] || "$railyard" down "$app_lab" >/dev/null 2>&1 || true
  rm -rf -- "$work"
}
trap cleanup EXIT
missed=0

is_wanted() { (( ${#wanted[@]} == 0 )) || [[ " ${wanted[*]} " == *" $1 "* ]]; }
median() { sort -g | awk '{ v[NR] = $1 } END { print NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2 }'; }
spread() { sort -g | awk '{ v[NR] = $1 } END { if (NR > 1) printf "(%.4g..%.4g)", v[1], v[NR]; else printf "(one value)" }'; }
# figures FILTER ARGUMENT...: FILTER of the report of `railyard run ARGUMENT... --json`, one line for each run
figures() {
  local filter=$1 i; shift
  for (( i = 0; i < runs; ++i )); do "$railyard" run "$@" --json 2>/dev/null | jq -r "$filter"; done
}
# row TEXT UNIT BAR: prints the median of what stands in $work/figures; BAR is ">= n", "<= n" or -
row() {
  local value verdict=''
  value=$(median <"$work/figures")
  if [[ $3 != - ]]; then
    verdict=$(awk -v v="$value" -v bar="$3" 'BEGIN { split(bar, b, " "); print (b[1] == ">=" ? v >= b[2] : v <= b[2]) ? "ok" : "MISSED" }')
    [[ $verdict == ok ]] || missed=1
  fi
  printf '%-66s %9.4g %-26s %-10s %-7s %s\n' "$1" "$value" "$2" "$3" "$verdict" "$(spread <"$work/figures")"
}
per_core='.engine | .packet_hops / .cpu_seconds / 1e6'
# pressure FILE: what a report says about queues; a figure of a fabric without marks or pauses is none
pressure() { "$railyard" run "$1" --json 2>/dev/null >"$work/pressure"; said_pressure "$work/pressure"; }
said_pressure() { # REPORT
  jq -r '[.ports[] | .classes[]] |
    "    marks \(map(.ecn_marked // 0) | add), XOFF and XON frames \(map(.pfc_sent // 0) | add), deepest queue \(map(.max_depth_bytes // 0) | max / 1000 | floor) KB, lost \([.[] | (.drops // {} | add) // 0] | add)"' "$1"
  jq -e '[.ports[] | .classes[]] | (map(.ecn_marked // 0) | add) > 0 and (map(.pfc_sent // 0) | add) > 0' "$1" >/dev/null ||
    { printf '    MISSED: no marks or no pauses\n'; missed=1; }
}
# Cycles are those of the time-stamp counter.
tsc_hz() { awk '/MHz/ { print $4 * 1e6; exit }' /proc/cpuinfo; }

[[ -n $json ]] || printf '%s; %s processors; load %s; median of %s (least..most)\n' \
  "$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)" "$(nproc)" "$(cut -d' ' -f1 /proc/loadavg)" "$runs"
hz=$(tsc_hz)

if is_wanted applications; then
  . "$here/applications.sh"
  applications_bench
fi

if is_wanted live-speed; then
  if (( EUID == 0 )); then
    . "$here/live_speed.sh"
    live_speed_bench
  else
    echo 'live-speed: skipped, needs root'
  fi
fi

if is_wanted parts; then
  printf '\nParts of a hop (the first is the yardstick: a bare ring hop with header work)\n'
  "$bin/hop_bench" --benchmark_repetitions="$runs" --benchmark_report_aggregates_only --benchmark_format=json 2>/dev/null |
    jq -r '.benchmarks[] | select(.aggregate_name == "median") | "\(.run_name) \(.cpu_time)"' |
    while read -r name ns; do printf '%s\n' "$ns" >"$work/figures"; row "  $name" ns -; done
fi

if is_wanted qps; then
  printf '\nRoCE engine, sender and receiver on one core: a packet of 4 KiB by how many QPs are active (median of 15 turns)\n'
  "$bin/qp_bench" --benchmark_format=json 2>/dev/null >"$work/qps"
  for paced in 0 1; do
    for n in 10 100 1000 10000; do
      of() { jq -r ".benchmarks[] | select(.name | startswith(\"ActiveQps/qps:$n/paced:$paced/\")) | .$1" "$work/qps"; }
      of ns_a_packet >"$work/figures"; row "  $n QPs, $( (( paced )) && echo 'each paced' || echo 'as fast as they can')" 'ns of CPU a packet' -
      of ratio >"$work/figures"; row '  ... against 10 QPs, in turn' x "$( (( n == 10000 )) && echo '<= 1.5' || echo - )"
    done
  done
fi

if is_wanted roce; then
  printf '\nRoCEv2 WRITEs of 2 MB between 200 Gb/s NICs, a permutation, virtual clock, elided payload, one worker\n'
  for (( i = 0; i < runs; ++i )); do
    for n in 128 1024; do "$railyard" run "$here/roce-$n.yaml" --json 2>/dev/null >"$work/roce-$n-$i"; done
  done
  # roce FILTER HOSTS: of each run's report
  roce() { jq -r "$1" "$work/roce-$2-"* >"$work/figures"; }
  for n in 128 1024; do
    roce "$per_core" "$n"; row "  $n hosts" 'M packet-hops/core-second' -
    roce .engine.cpu_seconds "$n"
    row "  ... for $(jq -r '.engine.simulated_seconds * 1000 | round' "$work/roce-$n-0") ms of modelled time" 's of CPU' -
    roce '.engine.peak_rss_bytes / 1e6' "$n"; row '  ... peak memory' MB -
  done
  for (( i = 0; i < runs; ++i )); do
    jq -rn --slurpfile a "$work/roce-1024-$i" --slurpfile b "$work/roce-128-$i" \
      "(\$a[0] | $per_core) / (\$b[0] | $per_core)"
  done >"$work/figures"
  row '  1024 hosts against 128, in turn' x '>= 0.7'
  "$bin/qp_bench" --benchmark_filter='qps:10/paced:0/' --benchmark_format=json 2>/dev/null |
    jq -r '.benchmarks[0].ns_a_packet' >"$work/figures"
  row '  the engine, sender and receiver together' 'ns of CPU a packet' -
  figures '.engine | .cpu_seconds * 1e9 / .packet_hops' "$here/permutation-128.yaml" >"$work/figures"
  row "  beside it the fabric, its generators' share included" 'ns of CPU a hop' -

  printf '\nTwo RoCEv2 NICs over leaf-spine-leaf, wall clock, one worker, real payload, verified\n'
  figures '.flows[0].delivered_bytes * 8 / .engine.cpu_seconds / 1e9' "$here/roce-pair.yaml" >"$work/figures"
  row '  WRITEs of 4 KiB' 'Gb/s per core' -
  figures '.flows[0].delivered_bytes * 8 / .engine.cpu_seconds / 1e9' "$here/roce-pair.yaml" --set traffic.pair.message=1MiB \
    >"$work/figures"
  row '  WRITEs of 1 MiB, in packets of 4 KiB' 'Gb/s per core' -
  # pair64 OPERATION: messages of 64 octets
  pair64() {
    figures '.flows[0].roce.verified / .engine.cpu_seconds / 1e6' "$here/roce-pair.yaml" --set traffic.pair.message=64B \
      --set "traffic.pair.operation=$1" >"$work/figures"
  }
  pair64 write; row '  WRITEs of 64 octets' 'M messages/s per core' -
  pair64 send; row '  SENDs of 64 octets' 'M messages/s per core' -
fi

if is_wanted uet; then
  printf '\nWhat a data packet costs with its answers, one hop included: WRITEs of 2 MB, virtual clock, elided payload\n'
  a_packet='.engine.cpu_seconds * 1e9 / ([.flows[].packets] | add)'
  for (( i = 0; i < runs; ++i )); do
    "$railyard" run "$here/transports.yaml" --json 2>/dev/null | jq -r "$a_packet" >"$work/uet-roce-$i"
    "$railyard" run "$here/transports.yaml" --set traffic.pairs.transport=uet --json 2>/dev/null |
      jq -r "$a_packet" >"$work/uet-uet-$i"
  done
  cat "$work"/uet-roce-* >"$work/figures"; row '  RoCEv2' 'ns of CPU a packet' -
  cat "$work"/uet-uet-* >"$work/figures"; row '  UET, RUD' 'ns of CPU a packet' -
  # Encrypted: headers only, and with real payload all of it.
  key=$(printf '%064x' 1)
  for payload in elided real; do
    for security in '' "{ mode: cluster, key: \"$key\" }"; do
      for (( i = 0; i < runs; ++i )); do
        "$railyard" run "$here/transports.yaml" --set traffic.pairs.transport=uet --set "run.payload=$payload" \
          ${security:+--set "hosts.default.uet.security=$security"} --json 2>/dev/null | jq -r "$a_packet"
      done >"$work/figures"
      row "  UET, $payload payload${security:+, TSS}" 'ns of CPU a packet' -
    done
  done
  for (( i = 0; i < runs; ++i )); do
    awk -v a="$(<"$work/uet-uet-$i")" -v b="$(<"$work/uet-roce-$i")" 'BEGIN { print a / b }'
  done >"$work/figures"
  row '  UET against RoCEv2, in turn' x '<= 1.5'
  for (( i = 0; i < runs; ++i )); do
    for cc in rccc nscc; do
      "$railyard" run "$here/transports.yaml" --set traffic.pairs.transport=uet --set "hosts.default.uet.congestion=$cc" \
        --json 2>/dev/null | jq -r "$a_packet" >"$work/uet-$cc"
    done
    awk -v a="$(<"$work/uet-rccc")" -v b="$(<"$work/uet-nscc")" 'BEGIN { print a / b }'
  done >"$work/figures"
  row '  UET by receiver credit (RCCC) against NSCC, in turn' x '<= 1.2'
  for n in 128 1024; do
    figures "$per_core" "$here/roce-$n.yaml" --set traffic.permutation.transport=uet >"$work/figures"
    row "  the permutation of $n hosts over UET" 'M packet-hops/core-second' -
  done
fi

# What uet-htsim measures of the same set-up: tests/scenarios/uet_credit_fidelity_test.cc has more, and how it was run.
if is_wanted credit; then
  printf '\nReceiver credit against uet-htsim: FCTs of 2 MB over a fat tree of 128 hosts, 100 Gb/s (one run: it is the same each time)\n'
  # credit TEXT CONGESTION TRAFFIC MEAN MAX: medians of the simulator's seeds (1 to 10, incasts 1 to 5), us
  credit() {
    local which
    "$railyard" run "$root/topologies/scenarios/fidelity-uet-credit.yaml" --set "hosts.default.uet.congestion=$2" \
      --set "traffic=[{ name: t, transport: uet, path-mtu: 4086, message: 2MB, outstanding: 1, $3 }]" --json 2>/dev/null |
      jq -r '.traffic[0].fct_ns | .mean, .max | . / 1000' >"$work/credit"
    for which in mean max; do
      { [[ $which == mean ]] && head -n 1 "$work/credit" || tail -n 1 "$work/credit"; } >"$work/of"
      awk -v b="$([[ $which == mean ]] && echo "$4" || echo "$5")" '{ print ($1 > b ? $1 / b : b / $1) - 1 }' "$work/of" |
        awk '{ print 100 * $1 }' >"$work/figures"
      row "  $2, $1: FCT $which $(printf '%.1f' "$(<"$work/of")") us, off by" % '<= 3'
    done
  }
  permuted="pattern: file, file: $root/tests/scenarios/permutation-128.cm, from: h*"
  for of in 'rccc 192.2 206.1' 'both 192.8 212.1'; do read -r cc mean max <<<"$of"; credit permutation "$cc" "$permuted" "$mean" "$max"; done
  for of in '8 1301.9 1309.2' '32 5237.2 5261.1' '100 16384.9 16448.1'; do
    read -r n mean max <<<"$of"
    for cc in rccc both; do
      credit "incast of $n" "$cc" "pattern: incast, bytes: 2MB, to: h1, from: [$(seq -s ', ' -f 'h%g' 2 $(( n + 1 )))]" "$mean" "$max"
    done
  done
fi

if is_wanted recovery; then
  printf '\nGoodput that is left, against none lost on one path, virtual clock (one run: it is the same each time)\n'
  # goodput ARGUMENT...: of all flows, Gb/s; every message that came was verified, or it is none
  goodput() {
    "$railyard" run "$here/roce-recovery.yaml" --set topology.fabric-link.rate=800Gbps "$@" --json 2>/dev/null |
      jq -r 'if all(.flows[]; .corrupted == 0) then [.flows[].goodput_bps] | add / 1e9 else 0 end'
  }
  for how in go-back-n selective-repeat; do
    recovery=hosts.default.roce.loss-recovery=$how
    clean=$(goodput --set "$recovery")
    for loss in 0.01% 0.1% 1%; do
      lossy=$(goodput --set "$recovery" --set "faults=[{ on: leaf2 in, loss: $loss, match: { size: '> 1000B' } }]")
      awk -v a="$lossy" -v b="$clean" 'BEGIN { print a / b }' >"$work/figures"
      row "  $how, $loss of the packets lost" 'of the goodput' -
    done
    sprayed=$(goodput --set "$recovery" --set topology.fabric-link.rate=250Gbps \
      --set 'qos.default.classes.3.path={ policy: spray, order: random }')
    awk -v a="$sprayed" -v b="$clean" 'BEGIN { print a / b }' >"$work/figures"
    row "  $how, sprayed at random over four paths" 'of the goodput' "$([[ $how == go-back-n ]] && echo '<= 0.8' || echo -)"
  done
fi

# numbers TEXT GBPS OVERRIDE...: one run of uet-numbers.yaml at that rate; its report stays in $work/numbers
numbers() {
  local text=$1 gbps=$2 o sets=(); shift 2
  for o in "$@"; do sets+=(--set "$o"); done
  "$railyard" run "$here/uet-numbers.yaml" --set "defaults.link.rate=${gbps}Gbps" \
    --set "switches.default.buffer=$(( 256 * gbps ))KB" --set "qos.default.classes.3.ecn.kmin=$(( gbps / 5 ))KB" \
    --set "qos.default.classes.3.ecn.kmax=$(( gbps * 4 / 5 ))KB" "${sets[@]+"${sets[@]}"}" --json 2>/dev/null >"$work/report"
  jq -c --arg case "$text, $gbps Gb/s" '
    def sum(f): [.uet_nics[] | f] | add;
    { case: $case, flows: .traffic[0].flows, complete: .traffic[0].complete,
      fct_us: (.traffic[0].fct_ns | { mean: (.mean / 1000), p50: (.p50 / 1000), p99: (.p99 / 1000), max: (.max / 1000) }),
      ideal_us: ([.flows[].ideal_ns] | max / 1000), trims: sum(.dropped.trimmed // 0), marks: sum(.ecn_marked_packets),
      retransmissions: sum(.retransmitted_packets), duplicates: sum(.dropped.duplicate // 0),
      timeouts: sum(.retransmission_timeouts), lost: ([.flows[].lost] | add),
      cpu_seconds: .engine.cpu_seconds, hops_per_core_second: (.engine.packet_hops / .engine.cpu_seconds),
      peak_rss_bytes: .engine.peak_rss_bytes }' "$work/report" >"$work/numbers"
  if [[ -n $json ]]; then cat "$work/numbers"; return; fi
  jq -r '[.case, .fct_us.mean, .fct_us.p50, .fct_us.p99, .fct_us.max, .trims, .marks, .retransmissions, .cpu_seconds,
    .hops_per_core_second / 1e6, .peak_rss_bytes / 1e6] | @tsv' "$work/numbers" |
    awk -F'\t' '{ printf "  %-46s %8.1f %8.1f %8.1f %8.1f %7d %8d %7d %7.2f %6.2f %6.0f\n", $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11 }'
}
# bar TEXT UNIT BAR FILTER: a figure of the last numbers, with its bar; not with --json
bar() {
  [[ -z $json ]] || return 0
  jq -r "$4" "$work/numbers" >"$work/figures"; row "    $1" "$2" "$3"
}
numbers_head() {
  [[ -n $json ]] || printf '  %-46s %8s %8s %8s %8s %7s %8s %7s %7s %6s %6s\n' '' 'mean us' p50 p99 max trims marks again 'CPU s' Mhop/s MB
}
no_trim='qos.default.classes.3.trim='
if is_wanted uet-numbers; then
  [[ -n $json ]] || printf '\nUET: FCT of 2 MB flows, 128 hosts; NSCC, sprayed over 256 paths (reps), trimming, no PFC\n'
  numbers_head
  for gbps in 100 200 400; do
    numbers permutation $gbps
    if (( gbps == 100 )); then
      bar 'the last flow against the ideal one' x '<= 1.1' '.fct_us.max / .ideal_us'
      bar 'packets retransmitted that had not been trimmed' packets '<= 0' '.retransmissions - .trims'
    fi
    numbers 'permutation, not trimmed' $gbps "$no_trim"
    bar 'packets that were there already' packets - .duplicates
  done
  # Where the time goes (README.md): the parameters that the reference has; switches that choose by load; or no queues.
  numbers 'permutation, the reference' 100 'hosts.default.uet.nscc={ max-window: 3/2, min-window: 1 }' \
    hosts.default.uet.path-policy=mixed hosts.default.uet.paths=64 hosts.default.uet.ack-bytes=16384B
  numbers 'permutation, adaptive switches' 100 'qos.default.classes.3.path={ policy: adaptive, global: true }'
  bar 'the last flow against the ideal one' x '<= 1.1' '.fct_us.max / .ideal_us'
  numbers 'permutation, 400 Gb/s between switches' 100 topology.fabric-link.rate=400Gbps
  bar 'the last flow against the ideal one' x '<= 1.1' '.fct_us.max / .ideal_us'
  for policy in single oblivious bitmap mixed; do
    numbers "permutation, $policy" 100 "hosts.default.uet.path-policy=$policy"
  done
  for n in 8 32 100; do
    incast=('traffic.t.pattern=incast' 'traffic.t.to=h1' "traffic.t.fan-in=$n")
    for gbps in 100 400; do
      numbers "incast of $n" $gbps "${incast[@]}"
      # 2 MB each; octets on the wire: 126 around 4096.
      bar 'the last flow against the link of the receiver' x '<= 1.05' \
        ".fct_us.max / (.flows * 2e6 * 8 * (4096 + 126) / 4096 / ($gbps * 1000))"
      bar 'lost to the application' flows '<= 0' '.flows - .complete'
    done
    numbers "incast of $n, not trimmed" 100 "${incast[@]}" "$no_trim"
    bar 'the last flow against the link of the receiver' x '<= 1.05' \
      ".fct_us.max / (.flows * 2e6 * 8 * (4096 + 126) / 4096 / 100000)"
    bar 'lost to the application' flows '<= 0' '.flows - .complete'
  done
  all=('topology.leaves=4' 'traffic.t.pattern=all-to-all' 'traffic.t.bytes=64KB' 'traffic.t.message=64KB')
  numbers 'all-to-all of 64, 64 KB each' 100 "${all[@]}"
  numbers 'all-to-all of 64, 64 KB each' 400 "${all[@]}"
  numbers 'all-to-all of 64, 64 KB each, not trimmed' 100 "${all[@]}" "$no_trim"
fi
if is_wanted uet-numbers-large; then
  [[ -n $json ]] || printf '\nUET: the same with 1024 hosts, 32 leaves x 32 spines\n'
  numbers_head
  thousand=('topology.leaves=32' 'topology.spines=32' 'topology.hosts-per-leaf=32')
  for gbps in 100 200 400; do numbers 'permutation of 1024' $gbps "${thousand[@]}"; done
  numbers 'permutation of 1024, not trimmed' 100 "${thousand[@]}" "$no_trim"
  numbers 'permutation of 1024, oblivious' 100 "${thousand[@]}" hosts.default.uet.path-policy=oblivious
fi

if is_wanted virtual; then
  printf '\nVirtual clock: 128 hosts x 100 Gb/s, 8 leaves x 8 spines, 4 KiB, elided payload, one worker\n'
  for what in 'permutation >= 5' 'incast >= 3'; do
    figures "$per_core" "$here/${what%% *}-128.yaml" >"$work/figures"
    row "  ${what%% *}, 128 hosts" 'M packet-hops/core-second' "${what#* }"
    pressure "$here/${what%% *}-128.yaml"
  done
fi
if is_wanted large; then
  figures "$per_core" "$here/permutation-1024.yaml" >"$work/figures"
  row '  permutation, 1024 hosts, 32 leaves x 32 spines' 'M packet-hops/core-second' '>= 2.8'
  pressure "$here/permutation-1024.yaml"
fi
if is_wanted payload; then
  figures "$per_core" "$here/permutation-128.yaml" --set run.payload=real >"$work/figures"
  row '  permutation, 128 hosts, real payload' 'M packet-hops/core-second' -
fi
if is_wanted workers; then
  for (( i = 0; i < runs; ++i )); do
    one=$("$railyard" run "$here/permutation-128.yaml" --json | jq .engine.wall_seconds)
    two=$("$railyard" run "$here/permutation-128.yaml" --workers 2 --json | jq .engine.wall_seconds)
    awk -v a="$one" -v b="$two" 'BEGIN { print a / b }'
  done >"$work/figures"
  row '  permutation, 128 hosts, 2 workers: wall time of one / of two' x '>= 1.5'
  # What the machine has to give: two runs that share nothing.
  for (( i = 0; i < runs; ++i )); do
    one=$("$railyard" run "$here/permutation-128.yaml" --json | jq .engine.wall_seconds)
    "$railyard" run "$here/permutation-128.yaml" --json >"$work/beside" & beside=$!
    two=$("$railyard" run "$here/permutation-128.yaml" --json | jq .engine.wall_seconds)
    wait "$beside"
    awk -v a="$one" -v b="$two" -v c="$(jq .engine.wall_seconds "$work/beside")" 'BEGIN { print 2 * a / (b > c ? b : c) }'
  done >"$work/figures"
  row '  ... the bound: two runs side by side, work per time against one' x -
fi

# feature TEXT BAR OVERRIDE...: what a packet-hop costs with the overrides, against without, in turn; both have those in
# $common.
common=()
feature() {
  local text=$1 bar=$2 i on off o both=() sets=(); shift 2
  for o in "${common[@]+"${common[@]}"}"; do both+=(--set "$o"); done
  for o in "$@"; do sets+=(--set "$o"); done
  for (( i = 0; i < runs; ++i )); do
    off=$("$railyard" run "$here/permutation-128.yaml" "${both[@]+"${both[@]}"}" --json | jq -r "$per_core")
    on=$("$railyard" run "$here/permutation-128.yaml" "${both[@]+"${both[@]}"}" "${sets[@]+"${sets[@]}"}" --json | jq -r "$per_core")
    awk -v on="$on" -v off="$off" 'BEGIN { print off / on }'
  done >"$work/figures"
  row "  $text" 'x the cost of a hop' "$bar"
}
if is_wanted features; then
  printf '\nWhat features cost: permutation, 128 hosts, on against off in turn\n'
  class=qos.default.classes.3 path=qos.default.classes.3.path
  watchdog='switches.default.pfc-watchdog={ detect: 1ms, restore: 1ms, poll: 100us }'
  feature 'nothing else (how far two equal runs are apart)' -
  feature 'path: wcmp' - "$path=wcmp"
  feature 'path: flowlet, 16 us' - "$path={ policy: flowlet, gap: 16us }"
  feature 'path: spray' - "$path=spray"
  feature 'path: spray, least-loaded' - "$path={ policy: spray, order: least-loaded }"
  feature 'path: adaptive' - "$path=adaptive"
  feature 'path: adaptive, global' - "$path={ policy: adaptive, global: true }"
  feature 'PFC watchdog' - "$watchdog"
  feature 'headroom pool' - 'switches.default.headroom-pool=4MiB'
  feature 'not looking for deadlocks and pause trees' - 'run.deadlock=off'
  feature 'a fault on one of 192 links' '<= 1.03' 'faults=[{ on: h1, loss: 1%, match: { udp.dport: 9 } }]'
  feature 'a frame fault on every link' - "faults=[{ on: 'leaf*', loss: 1%, match: { udp.dport: 9 } }]"
  feature 'in-band telemetry of one packet in 1000' - 'run.int={ one-in: 1000 }'
  feature 'cut-through instead of store-and-forward' - 'switches.default.mode=cut-through'
  feature 'class remap, to another lossless class' - "$class.remap-to=4" \
    'qos.default.classes.4={ lossless: true, alpha: 1/8, reserved: 9472B, weight: 50 }'
  # A lossy class that is short of memory: half of its frames are dropped in the one run and trimmed in the other.
  common=("$class={ lossless: false, queue-alpha: 1/256, weight: 50 }")
  feature 'ECN marking (lossy)' - "$class.ecn={ kmin: 10KB, kmax: 60KB, pmax: 20% }"
  feature 'trimming instead of dropping (lossy)' - "$class.trim={ keep: 128B, dscp: 48, class: 6 }"
  common=()
  figures "$per_core" "$here/everything-128.yaml" >"$work/figures"
  row '  all at work: global adaptive, flowlet, trimming, watchdog, pool' 'M packet-hops/core-second' '>= 4'
  pressure "$here/everything-128.yaml"
fi

if is_wanted wall; then
  printf '\nWall clock: leaf-spine-leaf, queues full, rates enforced, ECN and PFC on (%.2f GHz)\n' \
    "$(awk -v hz="$hz" 'BEGIN { print hz / 1e9 }')"
  figures ".engine | .cpu_seconds * $hz / .packet_hops" "$here/wall-path.yaml" >"$work/figures"
  row '  a hop between built-in hosts, its share of them included' cycles '<= 500'
  pressure "$here/wall-path.yaml"
  # What the port in memory repeats: frames that a built-in host has sent in its place.
  "$railyard" run "$here/memory-path.yaml" -q --clock virtual --duration 2us --payload real --set nodes.h1.attach= \
    --set nodes.h2.attach= --set 'traffic=[{ name: t, from: h1, to: h2, payload: 4KiB, dscp: 26, ecn: true }]' \
    --capture "h1:1:out=$work/frames.pcapng" >/dev/null
  sed "s|/tmp/railyard-bench|$work|" "$here/memory-path.yaml" >"$work/memory-path.yaml"
  figures "(.engine | .busy_seconds * $hz / .packet_hops), (.ports[] | select(.node == \"leaf2\" and .port == 1) | .utilisation)" \
    "$work/memory-path.yaml" >"$work/path.figures"
  awk 'NR % 2' "$work/path.figures" >"$work/figures"
  row '  a hop between memory ports, 4 KiB, its share of them included' cycles '<= 500'
  awk 'NR % 2 == 0' "$work/path.figures" >"$work/figures"
  row '  ... over the link of 80 Gb/s at the end, how full it was' 'of its rate' '<= 1'
  pressure "$work/memory-path.yaml"
fi

last=$(( $(nproc) - 1 ))
# testpmd_hop OCTETS: cycles that testpmd's io forwarding needs for a packet between two vhost-user ports
testpmd_hop() {
  mkdir -p "$work/pmd"; rm -f "$work"/pmd/*
  mkfifo "$work/pmd/in"; exec 9<>"$work/pmd/in"
  dpdk-testpmd --lcores="0@(0-$last),1@(0-$last)" --no-huge --no-pci --no-telemetry --no-shconf -m 512 --file-prefix="pmd$$" \
    --vdev "net_vhost0,iface=$work/pmd/port0.sock,queues=1" --vdev "net_vhost1,iface=$work/pmd/port1.sock,queues=1" -- \
    -i --forward-mode=io --nb-cores=1 --total-num-mbufs=16384 --mbuf-size=9728 --max-pkt-len=9018 <&9 >"$work/pmd/log" 2>&1 &
  local pid=$! i; pids+=("$pid")
  printf 'set record-core-cycles on\nstart\n' >&9
  for (( i = 0; i < 100; ++i )); do [[ -S $work/pmd/port1.sock ]] && break; sleep 0.1; done
  "$bin/memory_peer" vhost-user "$work/pmd/port0.sock" "$work/pmd/port1.sock" "$1" 2 >"$work/pmd/peer" 2>/dev/null || true
  printf 'stop\nquit\n' >&9
  wait "$pid" || true
  exec 9>&-
  grep -o 'CPU cycles/packet=[0-9.]*' "$work/pmd/log" | tail -n1 | cut -d= -f2
}
# railyard_hop KIND OCTETS: the same through one switch, between ports of that kind
railyard_hop() {
  local kind=$1 octets=$2 attach='s|/tmp/railyard-bench|/tmp/railyard-bench|'
  [[ $kind != memif ]] || attach='s|vhost-user: \([^ ]*\)|memif: { socket: \1 }|'
  mkdir -p "$work/lab"; rm -f "$work"/lab/*
  sed -e "$attach" -e "s|/tmp/railyard-bench|$work/lab|" "$here/memory-hop.yaml" >"$work/lab/hop.yaml"
  "$railyard" run "$work/lab/hop.yaml" --json --duration 60s >"$work/lab/report" 2>/dev/null &
  local pid=$! i; pids+=("$pid")
  for (( i = 0; i < 100; ++i )); do [[ -S $work/lab/port1.sock ]] && break; sleep 0.1; done
  "$bin/memory_peer" "$kind" "$work/lab/port0.sock" "$work/lab/port1.sock" "$octets" 2 >"$work/lab/peer" 2>/dev/null || true
  kill -INT "$pid"; wait "$pid" || true
  jq -r --argjson hz "$(cut -d' ' -f2 "$work/lab/peer")" '.engine | .busy_seconds * $hz / .packet_hops' "$work/lab/report"
}
if is_wanted vhost; then
  printf '\nvhost-user to vhost-user: one switch against testpmd io forwarding, in turn\n'
  for octets in 64 1500 4096; do
    : >"$work/pmd.figures"; : >"$work/lab.figures"
    for (( i = 0; i < runs; ++i )); do
      testpmd_hop $octets >>"$work/pmd.figures"
      railyard_hop vhost-user $octets >>"$work/lab.figures"
    done
    cp "$work/pmd.figures" "$work/figures"; row "  testpmd, $octets octets" cycles/packet -
    cp "$work/lab.figures" "$work/figures"; row "  railyard, $octets octets" cycles/packet -
    paste "$work/lab.figures" "$work/pmd.figures" | awk '{ print $1 - $2 }' >"$work/figures"
    row "  difference, $octets octets (at most one hop)" cycles/packet '<= 500'
    paste "$work/lab.figures" "$work/pmd.figures" | awk '{ print $1 / $2 }' >"$work/figures"
    row "  ratio to testpmd, $octets octets" x -
  done
fi
if is_wanted memif; then
  # Alone: testpmd of DPDK 22.11 crashes when the other side of a memif ends.
  printf '\nmemif to memif: one switch\n'
  for octets in 64 1500 4096; do
    for (( i = 0; i < runs; ++i )); do railyard_hop memif $octets; done >"$work/figures"
    row "  railyard, $octets octets" cycles/packet -
  done
fi

if is_wanted ports && (( EUID != 0 )); then
  printf '\nPorts to the kernel: left out, they need root\n'
elif is_wanted ports; then
  printf '\nPorts to the kernel, and the drivers that DPDK has for the same, in turn: 256 frames sent, then taken; bursts given\n'
  # What is waited for differs (the host, its signals), and so would what others on this machine cost.
  alone=(); chrt -f 1 true 2>/dev/null && alone=(chrt -f 1)
  # ports_row OURS PACKAGED OCTETS COLUMN WHAT [BAR]: our cycles, and the package's over ours
  ports_row() {
    cut -d' ' -f"$4" "$work/$1" >"$work/figures"; row "  $1, $3 octets: $5" cycles/frame -
    [[ -s $work/$2 ]] || return 0
    paste -d' ' <(cut -d' ' -f"$4" "$work/$2") <(cut -d' ' -f"$4" "$work/$1") | awk '{ print $1 / $2 }' >"$work/figures"
    row "  $2 / $1, $3 octets: $5" x "${6:--}"
  }
  for pair in 'tap net_tap' 'netdev net_af_packet'; do
    ours=${pair% *} packaged=${pair#* }
    for octets in 64 1500 4096; do
      : >"$work/$ours"; : >"$work/$packaged"
      for (( i = 0; i < runs; ++i )); do
        "${alone[@]}" "$bin/port_bench" "$ours" $octets 1 >>"$work/$ours"
        # DPDK's TAP carries 1500 octets.
        [[ $packaged$octets == net_tap4096 ]] || "${alone[@]}" "$bin/port_bench" "$packaged" $octets 1 >>"$work/$packaged" 2>/dev/null
      done
      ports_row "$ours" "$packaged" $octets 1 taken '>= 1'
      ports_row "$ours" "$packaged" $octets 2 'sent by the host and taken'
      ports_row "$ours" "$packaged" $octets 3 given
      cut -d' ' -f4 "$work/$ours" >"$work/figures"; row "  $ours, $octets octets: rate" 'M frames/s' -
      [[ -s $work/$packaged ]] || continue
      paste -d' ' <(cut -d' ' -f4 "$work/$ours") <(cut -d' ' -f4 "$work/$packaged") | awk '{ print $1 / $2 }' >"$work/figures"
      row "  $ours / $packaged, $octets octets: rate" x "$([[ $ours == tap ]] && echo '>= 5' || echo -)"
    done
  done
fi

if is_wanted pair; then
  printf '\nGenerator pair over leaf-spine-leaf, 4 KiB, real payload written and verified\n'
  figures '(.flows | map(.delivered_bytes) | add) * 8 / .engine.cpu_seconds / 1e9' "$here/pair.yaml" >"$work/figures"
  row '  goodput' 'Gb/s per core' '>= 60'
fi

if is_wanted rate; then
  printf '\nReal time: 1 Gb/s for 10 s\n'
  "$railyard" run "$here/rate.yaml" --json 2>/dev/null >"$work/rate.json"
  # A flow's rate is that on the wire: with preamble and gap.
  jq -r '((.ports[] | select(.node == "h2") | .rx | (.bytes + 20 * .packets) * 8) / .engine.wall_seconds / 1e9 - 1) * 100 |
    if . < 0 then -. else . end' "$work/rate.json" >"$work/figures"
  row '  error of the rate' '%' '<= 0.1'
  jq -r '.engine.slip_ns' "$work/rate.json" >"$work/figures"
  row '  slip' ns '<= 0'
  jq -r '.engine.lateness_ns.p50' "$work/rate.json" >"$work/figures"
  row '  added latency of an event, p50' ns -
  jq -r '.engine.lateness_ns.p99' "$work/rate.json" >"$work/figures"
  row '  added latency of an event, p99' ns -
fi

if is_wanted live; then
  printf '\nLive labs\n'
  export RAILYARD_STATE_DIR=$work/state
  # seconds COMMAND...: wall time of it
  seconds() { local began=$EPOCHREALTIME; "$@" >/dev/null; awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { print b - a }'; }
  ticks() { awk '{ print $14 + $15 }' "/proc/$("$railyard" ls --json | jq '.[0].pid')/stat"; }
  for (( i = 0; i < runs; ++i )); do
    seconds "$railyard" up "$here/live-64-switches.yaml" --detach; "$railyard" down >/dev/null
  done >"$work/figures"
  row '  up: 64 switches, 256 built-in hosts' s '<= 2'
  # A tenth of a second after the last thing that happened it waits to be told of the next.
  "$railyard" up "$here/live-64-switches.yaml" --detach >/dev/null
  sleep 1; was=$(ticks); sleep 10; echo $(( $(ticks) - was )) | awk -v hz="$(getconf CLK_TCK)" '{ print $1 / hz / 10 * 100 }' >"$work/figures"
  "$railyard" down >/dev/null
  row '  that lab idle, of a core' % '<= 1'
  "$railyard" up "$here/permutation-128.yaml" --set run.duration=3600s --detach >/dev/null
  for (( i = 0; i < 5 * runs; ++i )); do
    curl -sf -o /dev/null -w '%{time_total}\n' --unix-socket "$work/state/permutation-128/api.sock" http://railyard/v1/status
  done | awk '{ print $1 * 1000 }' >"$work/figures"
  "$railyard" down >/dev/null
  row '  status of 144 nodes while the worker has more than it can do' ms '<= 50'
  if (( EUID == 0 )); then
    for (( i = 0; i < runs; ++i )); do
      seconds "$railyard" up "$here/live-32-namespaces.yaml" --detach; "$railyard" down >/dev/null
    done >"$work/figures"
    row '  up: 32 network namespaces' s '<= 5'
    "$railyard" up "$here/live-32-namespaces.yaml" --detach >/dev/null
    sleep 1; was=$(ticks); sleep 10; echo $(( $(ticks) - was )) | awk -v hz="$(getconf CLK_TCK)" '{ print $1 / hz / 10 * 100 }' >"$work/figures"
    row '  that lab idle, of a core' % '<= 1'
    for (( i = 0; i < 2 * runs; ++i )); do sleep 0.5; "$railyard" exec h1 -- ping -c 1 -4 h32; done |
      grep -o 'time=[0-9.]*' | cut -d= -f2 >"$work/figures"
    row '  a ping through the idle lab, both ways (wake-ups included)' ms -
    "$railyard" exec h32 -- iperf3 -s -D >/dev/null; sleep 0.5
    "$railyard" exec h1 -- iperf3 -c h32 -t 60 -J | jq '.end.sum_received.bits_per_second / 1e9' >"$work/figures"
    row '  iperf3, TCP, 60 s, one connection (its kernels share the cores)' Gb/s -
    "$railyard" status --json >"$work/status"; "$railyard" down >/dev/null
    for what in p50 p99 max; do
      jq ".engine.lateness_ns.$what / 1000" "$work/status" >"$work/figures"; row "  ... lateness $what" us -
    done
    jq '.engine.slip_ns / 1e6' "$work/status" >"$work/figures"; row '  ... slip' ms -
  else
    echo '  namespaces: skipped, needs root'
  fi
fi

# All ports and classes of a lab with traffic, as Prometheus asks for them.
if is_wanted scrape; then
  printf '\nMetrics\n'
  export RAILYARD_STATE_DIR=$work/state
  "$railyard" up "$here/../web/wide.yaml" --detach >/dev/null
  sleep 3
  for (( i = 0; i < 4 * runs; ++i )); do
    sleep 0.25
    curl -sf -o "$work/metrics" -w '%{time_total}\n' --unix-socket "$work/state/wide/api.sock" http://railyard/v1/metrics
  done | awk '{ print $1 * 1000 }' >"$work/figures"
  row "  scrape of 64 switches, 256 hosts ($(grep -vc '^#' "$work/metrics") samples)" ms '<= 100'
  "$railyard" down wide >/dev/null
fi

# The CPU time of a command in s, and the most memory that it had in GiB.
costs() {
  python3 -c 'import os, subprocess, sys
_, status, r = os.wait4(subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL).pid, 0)  # of this child alone
if status != 0: sys.exit(1)
print(r.ru_utime + r.ru_stime, r.ru_maxrss / 2**20)' "$@"
}
if is_wanted jobs; then
  printf '\nCollectives and jobs, one worker\n'
  for (( i = 0; i < runs; ++i )); do "$railyard" run "$here/allreduce-128.yaml" --json >"$work/report"; jq -r '.engine.cpu_seconds' "$work/report"; done >"$work/figures"
  row '  all-reduce of 64 MiB, ring of 128 ranks, 400 Gb/s' 's of CPU' '<= 1.5'
  figures "$per_core" "$here/allreduce-128.yaml" >"$work/figures"
  row '  ... its packets' 'M packet-hops/core-second' -
  for transport in roce uet; do
    for (( i = 0; i < runs; ++i )); do
      costs "$railyard" estimate "$root/topologies/designs/job-1024-gpus.yaml" --set "jobs.train.transport=$transport"
    done >"$work/costs"
    awk '{ print $1 }' "$work/costs" >"$work/figures"; row "  estimate: a step of Llama 3 70B on 1,024 GPUs, $transport" 's of CPU' '<= 60'
    awk '{ print $2 }' "$work/costs" >"$work/figures"; row '  ... memory' GiB '<= 4'
  done
fi

if is_wanted start; then
  printf '\nStart\n'
  for (( i = 0; i < runs; ++i )); do
    began=$(date +%s%N); "$railyard" run "$here/pair.yaml" --duration 1us --json >/dev/null 2>&1; ended=$(date +%s%N)
    echo $(( (ended - began) / 1000 ))
  done | awk '{ print $1 / 1000 }' >"$work/figures"
  row '  railyard run of 1 us, from start to exit' ms '<= 120'
  for (( i = 0; i < runs; ++i )); do costs "$railyard" run "$here/pair.yaml" --duration 1us --json 2>/dev/null; done | awk '{ print $1 * 1000 }' >"$work/figures"
  row '  ... processor time' ms '<= 80'
  for (( i = 0; i < runs; ++i )); do
    began=$(date +%s%N); "$railyard" check "$here/pair.yaml" >/dev/null 2>&1; ended=$(date +%s%N)
    echo $(( (ended - began) / 1000 ))
  done | awk '{ print $1 / 1000 }' >"$work/figures"
  row '  railyard check of the same' ms '<= 120'
fi

if is_wanted memory; then
  printf '\nMemory\n'
  rss() { "$railyard" run "$@" --json 2>/dev/null | jq .engine.peak_rss_bytes; }
  few=$(rss "$here/idle-switches.yaml" --set topology.leaves=2 --set topology.spines=2)
  many=$(rss "$here/idle-switches.yaml")
  awk -v a="$few" -v b="$many" 'BEGIN { print (b - a) / 60 / 1024 }' >"$work/figures"
  row '  a switch of 32 ports, idle (with half a host)' KiB -
  quiet=$(rss "$here/permutation-128.yaml" --duration 1us)
  active=$(rss "$here/permutation-128.yaml")
  awk -v a="$quiet" -v b="$active" 'BEGIN { print (b - a) / 16 / 1024 }' >"$work/figures"
  row '  more for one of 24 ports with full queues, elided payload' KiB -
fi

(( missed == 0 )) || { printf '\nA bar was missed. On a machine that others use too, run it again when it is quiet.\n'; exit 1; }
