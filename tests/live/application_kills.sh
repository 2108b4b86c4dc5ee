#!/usr/bin/env bash
# Programs on hosts with `attach: application` that are killed at random moments: before they have QPs, while they connect,
# while they send, while they sleep on a completion channel; by SIGKILL, and by SIGKILL after a SIGSTOP that fills their
# rings. Each time the peer must end with the error that its library defines. In the end the daemon must have what it had
# before (descriptors, mappings, memory), everything that it gives out must be free again, and the fabric must be empty.
#
# usage: tests/live/application_kills.sh [--times N] [--seed S]
#   --times N   kill N programs   (default 20)
#   --seed S    of the moments    (default 1)
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
times=20 seed=1
while (( $# )); do
  case $1 in
    --times) times=${2:?}; shift 2 ;;
    --seed) seed=${2:?}; shift 2 ;;
    *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
  esac
done
name=kills
. "$here/applications.sh"
need "perftest, jq" ib_write_bw jq

programs_are_built() {
  local p
  for p in verbs:-libverbs libfabric:-lfabric 'rdmacm:-lrdmacm -libverbs'; do
    # shellcheck disable=SC2086  # words
    gcc -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -o "$work/kills_${p%%:*}" "$here/kills/${p%%:*}.c" ${p#*:} || return 1
  done
}
# What `railyard env` says of each host, once: programs then begin at once.
environments_are_read() {
  local host
  for host in h1 h2 h3 h4; do "$railyard" env "$host" >"$work/env-$host" || return 1; done
}
# HOST FILE COMMAND...: becomes the command on that host, with its output in FILE.
become() {
  local host=$1 out=$2; shift 2
  # shellcheck disable=SC1090
  . "$work/env-$host"
  exec "$@" </dev/null >"$out" 2>&1
}

# ---- One kill ------------------------------------------------------------------------------------------------------------

# LISTENER CONNECTOR: hosts; then, of the round, $dir, $port and $style. They run in the background; their processes are
# $listener and $connector.
start_own() { # PROGRAM FROM TO ARGUMENT...
  local program=$1 from=$2 to=$3; shift 3
  become "$to" "$dir/listener" "$work/kills_$program" listens "$dir/socket" "$@" & listener=$!
  become "$from" "$dir/connector" "$work/kills_$program" connects "$dir/socket" "$@" & connector=$!
}
start_perftest() { # FROM TO
  local command=(ib_write_bw -d railyard0 -F -D 60 -u 15 -p "$port")
  become "$2" "$dir/listener" "${command[@]}" & listener=$!
  # It does not try again: it begins when the other one listens.
  { for (( i = 0; i < 100; ++i )); do ss -ltnH "sport = :$port" | grep -q . && break; sleep 0.01; done
    become "$1" "$dir/connector" "${command[@]}" 127.0.0.1; } & connector=$!
}
# Milliseconds below N.
pause() { sleep "$(printf '0.%03d' $(( RANDOM % $1 )))"; }
gone() { ! kill -0 "$1" 2>/dev/null; }
# ROUND FROM TO: the outcome goes into $work/outcomes.
one_kill() {
  local round=$1 from=$2 to=$3 dir=$work/round-$1 listener connector victim peer status=0 kind i
  RANDOM=$(( seed * 10007 + round ))
  local port=$(( 20000 + (seed * 7919 + round * 17) % 10000 )) style=polls
  (( RANDOM % 2 )) || style=sleeps
  mkdir "$dir"
  case $(( RANDOM % 10 )) in
    [0-3]) kind="verbs, $style"; start_own verbs "$from" "$to" "$style" ;;
    [4-6]) kind="libfabric, $style"; start_own libfabric "$from" "$to" "$style" ;;
    [7-8]) kind=rdma_cm; start_own rdmacm "$from" "$to" "$(address_of "$to")" "$(( 7000 + ${to#h} ))" ;;
    9) kind=perftest; start_perftest "$from" "$to" ;;
  esac
  # One in three at any moment of its start; the others when they send.
  if (( RANDOM % 3 == 0 )); then
    pause 400
  else
    for (( i = 0; i < 100; ++i )); do [[ -e $dir/socket.on || $kind == perftest ]] && break; sleep 0.1; done
    if [[ $kind == perftest ]]; then sleep 1; else pause 300; fi
  fi
  if (( RANDOM % 2 )); then victim=$listener peer=$connector; else victim=$connector peer=$listener; fi
  gone "$peer" && kind+=', and the peer was first'
  if (( RANDOM % 3 == 0 )); then
    kind+=', stopped first'
    kill -STOP "$victim" || true
    pause 300
  fi
  kill -KILL "$victim" || true
  wait "$victim" || true
  for (( i = 0; i < 200; ++i )); do gone "$peer" && break; sleep 0.1
    # A server of perftest waits for ever for a client that did not come.
    [[ $kind == perftest* ]] && (( i == 20 )) && ss -ltnH "sport = :$port" | grep -q . && { kill -KILL "$peer"; kind+=', not connected'; }
  done
  gone "$peer" || { kill -ABRT "$peer"; status=never; }
  if [[ $status != never ]]; then wait "$peer" || status=$?; fi
  local said; said=$(tail -n1 "$dir/$([[ $peer == "$listener" ]] && echo listener || echo connector)")
  case $kind:$status in
    perftest*:0) kind="FAIL: $kind: it ended as if nothing had been" ;;
    perftest*:never) kind="FAIL: $kind: it did not notice" ;;
    perftest*) ;;
    *:3) kind+=": $(sed 's/.*: //' <<<"$said")" ;;
    *:4) kind+=": not connected" ;;
    *) kind="FAIL: $kind: exit code $status: $said" ;;
  esac
  printf '%s\t%s\n' "$round" "$kind" >>"$work/outcomes"
  rm -rf "$dir"
}
address_of() { awk -v name="$1" '$2 == name { print $1; exit }' "$work/state/$lab/applications/h1/hosts"; }
# FIRST LAST: on three pairs of hosts at a time.
kill_many() {
  local pairs=('h1 h3' 'h2 h4' 'h4 h1') slot round
  for slot in 0 1 2; do
    for (( round = $1 + slot; round <= $2; round += 3 )); do
      # shellcheck disable=SC2086  # words
      one_kill "$round" ${pairs[slot]} 2>/dev/null
    done &
    slots[slot]=$!
  done
  wait "${slots[@]}"
}

# ---- What must be as it was ------------------------------------------------------------------------------------------------

daemon() { "$railyard" status --json | jq .pid; }
descriptors() { find "/proc/$(daemon)/fd" -mindepth 1 | wc -l; }
# Rings, which are shared with applications, are memfds.
rings() { grep -c 'memfd:railyard-rings' "/proc/$(daemon)/maps" || true; }
memory_kb() { awk '/VmRSS/ { print $2 }' "/proc/$(daemon)/status"; }
# Balances, and nothing is on its way.
fabric_is_empty() {
  "$railyard" status --audit >"$work/audit" && grep -q 'queued 0 + on the wire 0$' "$work/audit" &&
    (( $(fabric '[.ports[].depth_bytes] | add') == 0 ))
}
is_at_rest() { until_so none_is_open && until_so fabric_is_empty; }
warms_up() {
  kill_many 1000001 1000009 && cat "$work/outcomes" && is_at_rest || return 1
  before_descriptors=$(descriptors) before_rings=$(rings) before_kb=$(memory_kb)
  rm "$work/outcomes"
  say '%d descriptors, %d shared mappings, %d KiB' "$before_descriptors" "$before_rings" "$before_kb"
}
peers_notice() {
  kill_many 1 "$times"
  sort -n "$work/outcomes" | cut -f2 | sort | uniq -c | sort -rn | tee "$work/kinds"
  say '%d killed; %d missed by an error' "$(wc -l <"$work/outcomes")" "$(grep -cv 'not connected' "$work/outcomes")"
  (( $(wc -l <"$work/outcomes") == times )) && ! grep FAIL "$work/outcomes"
}
most_were_connected() { (( 2 * $(grep -cv 'not connected' "$work/outcomes") > times )); }
daemon_is_as_before() {
  is_at_rest || return 1
  local now_kb; now_kb=$(memory_kb)
  say '%d descriptors, %d shared mappings, %d -> %d KiB' "$(descriptors)" "$(rings)" "$before_kb" "$now_kb"
  # The rings of one process are 4.5 MB. What grows with each kill is found by many.
  (( $(descriptors) == before_descriptors && $(rings) == before_rings && now_kb < before_kb + 4000 + times ))
}
fabric_is_at_rest() { is_at_rest; cat "$work/audit"; say '%s' "$(grep -o 'generated.*' "$work/audit" | cut -c 1-60)"; fabric_is_empty; }
# Every number for UET that a NIC has is free again: as many processes as it has blocks of them open it at once.
numbers_are_free() {
  local host
  gcc -O1 -D_GNU_SOURCE -o "$work/libfabric_processes" "$here/libfabric_processes.c" -lfabric -lpthread || return 1
  for host in h1 h2 h3 h4; do FI_PROVIDER=railyard on "$host" "$work/libfabric_processes" many 128 0 || return 1; done
}
hosts_can_be_used() {
  local host
  for host in h1 h2 h3 h4; do
    ( . "$work/env-$host"; exec ib_write_bw -d railyard0 -F -n 100 -p "$port" ) </dev/null >"$work/server" 2>&1 & server=$!
    until_so listens || return 1
    ( . "$work/env-$([[ $host == h1 ]] && echo h2 || echo h1)"; exec ib_write_bw -d railyard0 -F -n 100 -p "$port" 127.0.0.1 ) >"$work/out" 2>&1 ||
      { cat "$work/out"; return 1; }
    wait "$server" || return 1
    port=$(( port + 1 ))
  done
}

check "up: four hosts of applications" lab_comes_up
check "programs that will be killed" programs_are_built
check "environments" environments_are_read
check "nine kills to begin with" warms_up
check "$times kills (seed $seed): every peer ends with an error" peers_notice
check "most were connected" most_were_connected
[[ ! -e $work/kinds ]] || sed 's/^/      /' "$work/kinds"
check "the daemon has what it had before" daemon_is_as_before
check "the fabric is empty, and its accounting balances" fabric_is_at_rest
(( times < 500 )) || check "all numbers for UET are free" numbers_are_free # 512 processes take a while
check "all hosts can be used" hosts_can_be_used
check "down leaves nothing" down_leaves_nothing
exit "$failed"
