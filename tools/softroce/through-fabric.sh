#!/usr/bin/env bash
# through-fabric.sh - run SoftRoCE guests through an emulated fabric: starts `railyard run`, boots the guests on its
# vhost-user sockets, runs a script in them, stops the fabric, and keeps its report.
#
# usage: through-fabric.sh --lab SPEC --nics N|pair --script FILE [options] [-- options for run-vm.sh / run-pair.sh]
#
#   --lab SPEC      fabric file whose hosts h1, h2, ... have `attach: { vhost-user: ... }`
#   --nics N        one guest with N NICs at h1..hN; "pair": two guests, at h1 and h2
#   --script FILE   runs in the guest(s); ROLE is a or b in a pair
#   --report DIR    where report.json and report.txt go (default: shown only)
#   --set P=V       handed to railyard (repeatable), as are
#   --capture P=F   ... captures
#   --railyard BIN  the binary (default: build/release/bin/railyard)
# exit: the guest script's status; 125 if the fabric did not start or its books do not balance
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
lab='' nics='' script='' report='' args=() rest=()
railyard=$here/../../build/release/bin/railyard
die() { printf 'through-fabric: %s\n' "$*" >&2; exit 125; }
while (( $# )); do
  case $1 in
    --lab) lab=$2; shift 2 ;;
    --nics) nics=$2; shift 2 ;;
    --script) script=$2; shift 2 ;;
    --report) report=$2; shift 2 ;;
    --set|--capture) args+=("$1" "$2"); shift 2 ;;
    --railyard) railyard=$2; shift 2 ;;
    --) shift; rest=("$@"); break ;;
    -h|--help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) die "unknown argument: $1 (--help)" ;;
  esac
done
[[ -f $lab ]] || die "--lab SPEC is required"
[[ -n $nics && -f $script ]] || die "--nics and --script are required"
[[ -x $railyard ]] || die "no $railyard; run tools/quickstart.sh"

work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-softroce.XXXXXX")
fabric=''
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  trap - EXIT INT TERM
  [[ -z $fabric ]] || kill -INT "$fabric" 2>/dev/null || true
  [[ -z $fabric ]] || wait "$fabric" 2>/dev/null || true
  rm -rf -- "$work"
}
trap cleanup EXIT
trap 'exit 143' INT TERM

hosts=$nics
[[ $nics != pair ]] || hosts=2
for ((i = 1; i <= hosts; i++)); do args+=(--set "nodes.h$i.attach.vhost-user=$work/h$i.sock"); done
"$railyard" run "$lab" "${args[@]}" --report "$work/report" --quiet >"$work/out" 2>&1 &
fabric=$!
for ((t = 0; t < 100; t++)); do
  [[ ! -S $work/h$hosts.sock ]] || break
  kill -0 "$fabric" 2>/dev/null || { cat "$work/out" >&2; fabric=''; die "the fabric did not start"; }
  sleep 0.1
done
[[ -S $work/h$hosts.sock ]] || die "the fabric did not open its sockets within 10 s"

rc=0
if [[ $nics == pair ]]; then
  "$here/run-pair.sh" --script "$script" --a "vhost-user,path=$work/h1.sock" --b "vhost-user,path=$work/h2.sock" \
    ${rest[@]+"${rest[@]}"} || rc=$?
else
  netdevs=() ips=
  for ((i = 1; i <= nics; i++)); do
    netdevs+=(--netdev "vhost-user,path=$work/h$i.sock")
    ips+=${ips:+,}10.9.0.$i/24
  done
  "$here/run-vm.sh" --script "$script" --ip "$ips" "${netdevs[@]}" ${rest[@]+"${rest[@]}"} || rc=$?
fi

kill -INT "$fabric"
frc=0
wait "$fabric" || frc=$?
fabric=''
if [[ -n $report ]]; then
  mkdir -p "$report"
  cp "$work"/report/* "$report/"
else
  cat "$work/out"
fi
(( frc == 0 )) || { cat "$work/out" >&2; die "railyard ended with status $frc"; }
exit "$rc"
