#!/usr/bin/env bash
# run-pair.sh - boot two SoftRoCE guests side by side, run one script in both.
#
# usage: run-pair.sh --script FILE [--a SPEC --b SPEC] [--pcap FILE] [--net4 10.9.0] [--args-a "..."] [--args-b "..."]
#                    [--timeout S] [--mtu N] [--env N=V ...]
#
#   --a/--b SPEC   netdev of guest a/b as run-vm.sh takes it (repeatable order is not kept:
#                  one NIC per guest). Default: a private UNIX datagram pair = a plain wire.
#   --script FILE  run in both guests with ROLE=a (server, <net4>.1) or ROLE=b (client, <net4>.2),
#                  MY=<own address> PEER=<other address>
#   --pcap FILE    capture on guest a's NIC (not with vhost-user)
#   --args-a/b     further run-vm.sh arguments of one guest, blank separated
#
# Output lines are prefixed "a| " and "b| ". Exit status: 0 if both scripts ended with 0,
# else the first non-zero of b, a. When b (the client) fails, a is stopped at once.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
die() { printf 'run-pair: %s\n' "$*" >&2; exit 125; }

script='' a='' b='' net4=10.9.0 common=() args_a=() args_b=() pcap=''
while (( $# )); do
  case $1 in
    --script) script=$2; shift 2 ;;
    --a) a=$2; shift 2 ;;
    --b) b=$2; shift 2 ;;
    --net4) net4=$2; shift 2 ;;
    --pcap) pcap=$2; shift 2 ;;
    --args-a) read -ra args_a <<<"$2"; shift 2 ;;
    --args-b) read -ra args_b <<<"$2"; shift 2 ;;
    --timeout|--mtu|--env|--file|--mem|--smp|--devopts) common+=("$1" "$2"); shift 2 ;;
    -h|--help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) die "unknown argument: $1" ;;
  esac
done
[[ -f $script ]] || die "--script FILE is required"
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-softroce-pair.XXXXXX")
pids=()
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  trap - EXIT INT TERM
  local p
  for p in ${pids[@]+"${pids[@]}"}; do kill "$p" 2>/dev/null || true; done
  for p in ${pids[@]+"${pids[@]}"}; do wait "$p" 2>/dev/null || true; done
  rm -rf -- "$work"
}
trap cleanup EXIT
trap 'exit 143' INT TERM
if [[ -z $a && -z $b ]]; then
  # Datagram pair: no connection to set up, either guest may start first.
  a="dgram,local.type=unix,local.path=$work/a,remote.type=unix,remote.path=$work/b"
  b="dgram,local.type=unix,local.path=$work/b,remote.type=unix,remote.path=$work/a"
fi
[[ -n $a && -n $b ]] || die "expected both --a and --b, or neither"
[[ -z $pcap ]] || args_a+=(--pcap "$pcap")

vm() { # ROLE OWN PEER NETDEV SEED ARGS...
  local role=$1 own=$2 peer=$3 dev=$4 seed=$5; shift 5
  local rc=0
  "$here/run-vm.sh" --netdev "$dev" --ip "$own/24" --seed "$seed" --script "$script" \
    --env "ROLE=$role" --env "MY=$own" --env "PEER=$peer" ${common[@]+"${common[@]}"} "$@" \
    > >(sed -u "s/^/$role| /") &
  local child=$!
  # shellcheck disable=SC2064
  trap "kill $child 2>/dev/null; wait $child; exit 143" TERM INT
  wait "$child" || rc=$?
  printf '%s\n' "$rc" >"$work/rc.$role"
}
vm a "$net4.1" "$net4.2" "$a" 1 ${args_a[@]+"${args_a[@]}"} & pa=$!
vm b "$net4.2" "$net4.1" "$b" 2 ${args_b[@]+"${args_b[@]}"} & pb=$!
pids=("$pa" "$pb")
wait "$pb" || true
rb=$(<"$work/rc.b")
if (( rb != 0 )); then kill "$pa" 2>/dev/null || true; exit "$rb"; fi
wait "$pa" || true
exit "$(<"$work/rc.a")"
