#!/usr/bin/env bash
# Labs that come up and go down, many times and in every way: nothing may be left.
#
# usage: tests/live/run.sh [--times N] [--kills N] [--soak SECONDS]
#   --times N   up and down N times                                    (default 5)
#   --kills N   kill -9 at N random moments, then up or down           (default 5)
#   --soak S    traffic, status, link changes for S seconds            (default 10)
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=$root/build/release/bin/railyard
times=5 kills=5 soak=10
while (( $# )); do
  case $1 in
    --times) times=${2:?}; shift 2 ;;
    --kills) kills=${2:?}; shift 2 ;;
    --soak) soak=${2:?}; shift 2 ;;
    *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
  esac
done
(( EUID == 0 )) || { echo "live: skipped: needs root"; exit 77; }
for tool in pgrep pkill ping iperf3 jq; do
  command -v "$tool" >/dev/null || { echo "live: no $tool (Debian: procps, iputils-ping, iperf3, jq)" >&2; exit 2; }
done
[[ -x $railyard ]] || { echo "live: no $railyard; build it first" >&2; exit 2; }
lab=endure-$$ # beside others on this machine
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-live.XXXXXX")
export RAILYARD_STATE_DIR=$work/state
# shellcheck disable=SC2317  # called by the trap
cleanup() { wait || true; "$railyard" down --all >/dev/null 2>&1 || true; rm -rf -- "$work"; }
trap cleanup EXIT
die() { printf 'live: %s\n' "$*" >&2; exit 1; }
RANDOM=${SEED:-1}

# What there is of the lab: namespaces, interfaces outside of them, processes, files, sockets.
ours="railyardd .*--name $lab"
inventory() {
  { ip netns list | grep "^ry-$lab" | sort
    ip -o link | awk -F': ' '$2 ~ /^n[1-6]-[12]/ { print $2 }' | sort
    pgrep -f "$ours"
    find "$work" -mindepth 2 | sort
    grep -o "$work.*" /proc/net/unix | sort
    find /etc/netns -mindepth 1 -maxdepth 1 -name "ry-$lab*" 2>/dev/null | sort
  } || true
}
check() { # AFTER WHAT
  local now
  now=$(inventory)
  [[ $now == "$before" ]] || die "after $1 there is more or less than before:
$(diff <(printf '%s\n' "$before") <(printf '%s\n' "$now") || true)"
}
up() { "$railyard" up "$here/lab.yaml" --name "$lab" --detach >/dev/null; }
pid() { "$railyard" ls --json | jq '.[0].pid // empty'; }
mkdir -p "$RAILYARD_STATE_DIR"
before=$(inventory)

# The priority that the lab is given is that of its session, too, where Linux has autogroups.
if [[ -e /proc/self/autogroup ]]; then
  nice -n -7 "$railyard" up "$here/lab.yaml" --name "$lab" --detach >/dev/null
  grep -q ' nice -7$' "/proc/$(pid)/autogroup" || die "a lab with nice value -7 has a session with: $(cat "/proc/$(pid)/autogroup")"
  "$railyard" down >/dev/null
fi

# The worker is on the processor that it is given, and commands are kept off it.
mine=$(awk '/^Cpus_allowed_list/ { sub(/.*[-,]/, "", $2); print $2 }' /proc/self/status)
"$railyard" up "$here/lab.yaml" --name "$lab" --detach --set "run.cores=[$mine]" >/dev/null
bound=$(awk '/^Cpus_allowed_list/ { print $2 }' "/proc/$(pid)/status")
[[ $bound == "$mine" ]] || die "a worker given processor $mine may run on $bound"
bound=$("$railyard" exec n1 -- awk '/^Cpus_allowed_list/ { print $2 }' /proc/self/status)
(( $(nproc) == 1 )) || [[ ! $bound =~ (^|[,-])$mine$ ]] || die "a command beside a worker on processor $mine may run on $bound"
"$railyard" down >/dev/null
! why=$("$railyard" up "$here/lab.yaml" --name "$lab" --detach --set 'run.cores=[1023]' 2>&1) || die "a worker was bound to processor 1023"
[[ $why == *'run.cores: no thread can be bound to processor 1023; expected one of '* ]] || die "of processor 1023 is said: $why"
check "a lab with run.cores"
echo "workers are bound to processors, commands kept off them"

for (( i = 1; i <= times; ++i )); do
  up
  (( i % 10 != 1 )) || "$railyard" exec n1 -- ping -c 1 -W 5 n6 >/dev/null || die "no ping in round $i"
  "$railyard" down >/dev/null
  check "round $i of up and down"
done
echo "up and down $times times: nothing left"

for (( i = 1; i <= kills; ++i )); do
  # At any moment of coming up, being up, or going down.
  "$railyard" up "$here/lab.yaml" --name "$lab" --detach >/dev/null 2>&1 & starter=$!
  sleep "0.$(printf '%03d' $(( RANDOM % 600 )))"
  if (( RANDOM % 3 == 0 )); then "$railyard" down >/dev/null 2>&1 & fi
  pkill -KILL -f "$ours" || true
  wait || true
  kill "$starter" 2>/dev/null || true
  # The first may have come before there was a daemon; then it is up now.
  pkill -KILL -f "$ours" || true
  # Not even until it is gone is waited for: the kernel takes a while to close all it had open.
  if (( RANDOM % 2 )); then
    up || die "no up after kill $i"
    "$railyard" exec n1 -- ping -c 1 -W 5 n2 >/dev/null || die "no ping after kill $i"
  fi
  "$railyard" down --all >/dev/null || die "no down after kill $i"
  check "kill $i"
done
echo "killed $kills times: nothing left"

up
daemon=$(pid)
rss() { awk '/VmRSS/ { print $2 }' "/proc/$daemon/status"; }
"$railyard" exec n6 -- iperf3 -s -D >/dev/null
sleep 1
end=$(( SECONDS + soak ))
grown=
while (( SECONDS < end )); do
  "$railyard" exec n1 -- iperf3 -c n6 -t 2 -b 200M >/dev/null || die "iperf3 failed"
  "$railyard" link down n1:2 >/dev/null
  "$railyard" status --json | jq -e '.engine.wall_seconds > 0' >/dev/null
  "$railyard" link up n1:2 >/dev/null
  "$railyard" status --audit >/dev/null || die "the books do not balance"
  [[ -n $grown ]] || grown=$(rss)   # once everything has been used
done
now=$(rss)
(( now < grown + 20000 )) || die "memory grew from $grown to $now KiB"
"$railyard" down >/dev/null
check "the soak"
echo "$soak s of traffic and changes: books balanced, $grown -> $now KiB, nothing left"
