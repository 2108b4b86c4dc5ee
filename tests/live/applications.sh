# shellcheck shell=bash
# For live tests of programs on hosts with `attach: application`, to be sourced after $root and $name (of the test) are
# set: a lab of topologies/labs/applications.yaml, and programs on its hosts. Needs root and the release build; ends the
# script with 77 and a reason where it cannot run. $spec: another lab.
railyard=$root/build/release/bin/railyard
(( EUID == 0 )) || { echo "$name: skipped: needs root"; exit 77; }
[[ ! -e /sys/class/infiniband_verbs ]] || { echo "$name: skipped: this machine's kernel has RDMA devices"; exit 77; }
[[ -x $railyard && -e $root/build/release/lib/railyard/librailyard-rdmav34.so ]] ||
  { echo "$name: no $railyard, or no provider (Debian: libibverbs-dev); build them first" >&2; exit 2; }
need() { # PACKAGES TOOL...: ends the script if one is missing
  local packages=$1 tool; shift
  for tool in "$@"; do
    command -v "$tool" >/dev/null || { echo "$name: no $tool (Debian: $packages)" >&2; exit 2; }
  done
}
lab=$name-$$ # beside others on this machine
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-$name.XXXXXX")
export RAILYARD_STATE_DIR=$work/state
cd "$work" # libraries of libfabric write files PROGRAM.HOST.btr where a program crashes
. "$root/tools/applications/priority.sh"
# shellcheck disable=SC2317  # called by the trap
cleanup() { give_back_processors; "$railyard" down --all >/dev/null 2>&1 || true; jobs -p | xargs -r kill 2>/dev/null || true; wait; rm -rf -- "$work"; }
trap cleanup EXIT
# Timeouts of these programs are short: on a machine that others use, too, they and the fabric go first.
take_processors -15
. "$root/tests/live/checks.sh"
patience=120
on() { local host=$1; shift; timeout "$patience" "$railyard" exec "$host" -- "$@" </dev/null; }
fabric() { "$railyard" status --json | jq "$1"; }
port=$(( 20000 + $$ % 20000 ))
crossed() { fabric '[.ports[] | select(.node | startswith("spine")) | .tx.packets] | add'; } # by the spines
listens() { ss -ltnH "sport = :$port" | grep -q .; }
# PROGRAM ARGUMENT...: a server of it on h3, then a client on h1; both must succeed. The client's output is shown.
pair() {
  local option=-p server
  port=$(( port + 1 ))
  on h3 "$@" "$option" "$port" >"$work/server" 2>&1 & server=$!
  until_so listens || return 1
  on h1 "$@" "$option" "$port" 127.0.0.1 || { kill "$server" 2>/dev/null; return 1; }
  wait "$server"
}
lossless() {
  local drops
  drops=$(fabric '[.ports[] | (.drops | add // 0), .lost_on_link] | add')
  say '%d dropped' "$drops"
  (( drops == 0 ))
}
none_is_open() { (( $(grep -c 'has opened it' "$work/state/$lab/log") == $(grep -c 'is gone' "$work/state/$lab/log") )); }
lab_comes_up() { # [OPTION...] of `railyard up`
  "$railyard" up "${spec:-$root/topologies/labs/applications.yaml}" --name "$lab" --detach "$@" || return 1
}
down_leaves_nothing() {
  "$railyard" down || return 1
  local left
  left=$(find "$work/state" -mindepth 1)
  [[ -z $left ]] || { echo "left: $left"; return 1; }
  # The device files go with the last lab that holds this lock; there may be others.
  local use=/dev/infiniband/.railyard
  [[ ! -e $use ]] || ! flock -nx "$use" true || { echo "left: $(ls -A /dev/infiniband)"; return 1; }
}
