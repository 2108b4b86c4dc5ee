#!/usr/bin/env bash
# Programs of this machine (attach: application) against the kernel's SoftRoCE in a guest, connected by rdma_cm both ways:
# unmodified programs at both ends, across the spines.
#
# usage: application.sh
# Needs root once (/dev/infiniband), and the release build.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=$root/build/release/bin/railyard
[[ ! -e /sys/class/infiniband_verbs ]] || { echo "application: skipped: this machine's kernel has RDMA devices"; exit 0; }
[[ -e /dev/infiniband/railyard0 ]] || (( EUID == 0 )) || { echo "application: skipped: needs /dev/infiniband/railyard0"; exit 0; }
for tool in rping udaddy ucmatose ib_send_bw; do
  command -v "$tool" >/dev/null || { echo "application: no $tool (Debian: rdmacm-utils, perftest)" >&2; exit 2; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-interop.XXXXXX")
export RAILYARD_STATE_DIR=$work/state
lab=application-$$
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$railyard" down --all >/dev/null 2>&1 || true; jobs -p | xargs -r kill 2>/dev/null || true; wait; rm -rf -- "$work"; }
trap cleanup EXIT
. "$root/tests/live/checks.sh"
patience=90
on() { local host=$1; shift; timeout "$patience" "$railyard" exec "$host" -- "$@" </dev/null; }
address_of() { awk -v name="$1" '$2 == name { print $1; exit }' "$work/state/$lab/applications/h2/hosts"; }
# A guest takes its time to start a program; the client asks until somebody listens.
until_connected() { local i; for (( i = 0; i < 20; ++i )); do "$@" && return; sleep 0.5; done; kill "$server"; return 1; }
# both SERVER CLIENT COMMAND... -- ARGUMENT-OF-THE-CLIENT...: the same command at both ends, the client's with more
both() {
  local from=$1 to=$2 command=(); shift 2
  while [[ $1 != -- ]]; do command+=("$1"); shift; done; shift
  timeout "$patience" "$railyard" exec "$from" -- "${command[@]}" </dev/null >"$work/server" 2>&1 & server=$!
  until_connected on "$to" "${command[@]}" "$@" || return 1
  wait "$server" || { echo "the server has failed"; return 1; }
}
pings() { # SERVER CLIENT ADDRESS
  timeout "$patience" "$railyard" exec "$1" -- rping -s -a "$3" -C 20 -S 4000 -V </dev/null >"$work/server" 2>&1 & server=$!
  until_connected on "$2" rping -c -a "$3" -C 20 -S 4000 -V || return 1
  wait "$server"
}
refused() { # CLIENT ADDRESS
  ! on "$1" rping -c -a "$2" -p 7999 -C 1 >"$work/out" 2>&1 || return 1
  cat "$work/out"
  grep -q 'RDMA_CM_EVENT_REJECTED, error 8' "$work/out"
}
# The kernel has said so for its programs; for ours the lab does.
killed() { # SERVER CLIENT ADDRESS
  "$railyard" exec "$1" -- rping -s -a "$3" </dev/null >"$work/server" 2>&1 & server=$!
  sleep 1
  timeout "$patience" "$railyard" exec "$2" -- rping -c -a "$3" </dev/null >"$work/client" 2>&1 & local client=$!
  sleep 2
  kill -KILL "$server"; wait "$server" || true
  wait "$client" || true
  cat "$work/client"
  grep -q DISCONNECT "$work/client"
}

check "up: a guest, and a host of applications" "$railyard" up "$here/application.yaml" --name "$lab" --detach
h1=$(address_of h1) h2=$(address_of h2)
check "rping: the guest is the client" pings h2 h1 "$h2"
check "rping: the guest is the server" pings h1 h2 "$h1"
check "udaddy: the guest is the client" both h2 h1 udaddy -C 10 -- -s "$h2" -b "$h1"
check "udaddy: the guest is the server" both h1 h2 udaddy -C 10 -- -s "$h1"
check "ucmatose, 3 connections: the guest is the client" both h2 h1 ucmatose -c 3 -- -s "$h2"
check "ib_send_bw -R: the guest is the client" both h2 h1 ib_send_bw -R -F -n 200 -- "$h2"
check "refused by the application's host" refused h1 "$h2"
check "refused by the guest" refused h2 "$h1"
check "a killed application is missed by the guest" killed h2 h1 "$h2"
exit "$failed"
