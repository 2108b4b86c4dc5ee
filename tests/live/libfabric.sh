#!/usr/bin/env bash
# Unmodified libfabric and MPI programs over Ultra Ethernet through a live lab: between hosts with `attach: application`
# across leaf, spine and leaf. What they send must be what the fabric counts; what breaks in the fabric must be seen by
# them.
#
# usage: tests/live/libfabric.sh [--all]
#   --all  messages of MPI up to 64 MiB (else 2 MiB), and the same programs over libfabric's tcp beside it
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
long=
case ${1:-} in
  '') ;;
  --all) long=1 ;;
  *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
name=libfabric
. "$here/applications.sh"
need "libfabric-bin, openmpi-bin, libopenmpi-dev, curl, jq" fi_info fi_pingpong mpicc mpirun curl jq
[[ -e $root/build/release/lib/railyard/librailyard-fi.so ]] ||
  { echo "$name: no provider (Debian: libfabric-dev); build it first" >&2; exit 2; }

device_is_listed() {
  on h1 fi_info -p railyard >"$work/out" || return 1
  cat "$work/out"
  grep -q 'domain: railyard0' "$work/out" && grep -q 'type: FI_EP_RDM' "$work/out" && grep -q 'type: FI_EP_DGRAM' "$work/out"
}
# PROVIDER FROM TO OPTION...: both ends must succeed; times are shown.
pingpong() {
  local provider=$1; shift
  port=$(( port + 1 ))
  on h3 fi_pingpong -p "$provider" -B "$port" "$@" >"$work/server" 2>&1 & local server=$!
  until_so listens || return 1
  on h1 fi_pingpong -p "$provider" -P "$port" "$@" 127.0.0.1 >"$work/out" 2>&1 || { cat "$work/out"; kill "$server" 2>/dev/null; return 1; }
  cat "$work/out"
  say '%s' "$(awk '$1 ~ /^[0-9.]+[kmg]?$/ { print $1 ": " $(NF-1) " us, " $(NF-2) " MB/s" }' "$work/out" | tail -n1)"
  wait "$server"
}
crosses_the_spines() {
  local before=$(( $(crossed) ))
  pingpong railyard -e rdm -m tagged -S 65536 -I 50 || return 1
  local packets=$(( $(crossed) - before ))
  say '%d packets by the spines for 100 messages of 64 KiB' "$packets"
  (( packets >= 1600 ))
}
# RANKS' HOSTS... -- PROGRAM ARGUMENT: each rank is on an emulated host of its own. The fabric needs a processor, too: ranks
# are not bound to theirs.
mpi() {
  local command=(mpirun --allow-run-as-root --oversubscribe --bind-to none --mca pml cm --mca mtl ofi
    --mca mtl_ofi_provider_include "${provider:-railyard}" --mca btl self,vader)
  local next=()
  while [[ $1 != -- ]]; do command+=("${next[@]}" -np 1 "$railyard" exec "$1" -- "${@: -2}"); next=(:); shift; done
  timeout "$patience" "${command[@]}" </dev/null >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
  cat "$work/out"
  say '%s' "$(grep -o 'all right: .*' "$work/out" | cut -c 12-)"
}
program_is_built() { mpicc -O1 -o "$work/libfabric_mpi" "$here/libfabric_mpi.c"; }
[[ -n $long ]] && most=64 || most=2
mpi_is_right() { mpi "$@" -- "$work/libfabric_mpi" $(( most << 20 )); }
loss_is_repaired() {
  "$railyard" fault add "name: loss, on: leaf2:1, loss: 1%" || return 1
  pingpong railyard -e rdm -m tagged -c -I 20 || return 1
  mpi h1 h3 -- "$work/libfabric_mpi" 262144 || return 1
  "$railyard" fault rm loss || return 1
  say '%d lost on the link' "$(fabric '[.ports[].lost_on_link] | add')"
  (( $(fabric '[.ports[].lost_on_link] | add') > 0 ))
}
# A peer that is killed does not answer: the other one ends with an error, and the lab takes back what it had.
a_killed_peer_is_missed() {
  gcc -O1 -o "$work/libfabric_check" "$here/libfabric_check.c" -lfabric || return 1
  "$railyard" exec h3 -- "$work/libfabric_check" receive "$work/address" </dev/null >"$work/server" 2>&1 & local server=$!
  until_so test -e "$work/address" || return 1
  on h1 "$work/libfabric_check" send "$work/address" >"$work/out" 2>&1 & local client=$!
  sleep 1
  kill -KILL "$server" || { echo "no receiver to kill"; return 1; }
  wait "$server" || true
  wait "$client" || { cat "$work/out"; return 1; }
  say '%s' "$(cat "$work/out")"
  until_so none_is_open
}
counted() { curl -s "http://127.0.0.1:$port/metrics" | awk -v name="^railyard_$1" '$1 ~ name { n += $2 } END { print n + 0 }'; }
# Two hosts send to the third at once, by a link whose queue holds two packets: what has no room is marked and trimmed there,
# and every octet arrives all the same.
congestion_is_seen() {
  "$railyard" down || return 1
  port=$(( port + 1 ))
  spec=$here/libfabric.yaml lab_comes_up --metrics "127.0.0.1:$port" || return 1
  mpi h3 h1 h2 -- "$work/libfabric_mpi" incast || return 1
  local marked trimmed cut again
  marked=$(fabric '[.ports[].ecn_marked] | add'); trimmed=$(counted trimmed_packets)
  # As the programs saw it: the receiver answered cut packets, and the senders retransmitted those.
  cut=$(uet h3 trimmed_packets); again=$(( $(uet h1 retransmitted_packets) + $(uet h2 retransmitted_packets) ))
  say '%d marked, %d trimmed; programs: %d cut packets received, %d retransmitted' "$marked" "$trimmed" "$cut" "$again"
  (( marked > 0 && trimmed > 0 && cut > 0 && again >= cut / 2 && $(uet h3 nacks_sent) > 0 ))
}
uet() { fabric "[.applications[] | select(.host == \"$1\") | .counters.uet.$2] | add"; }
address_of() { awk -v name="$1" '$2 == name { print $1; exit }' "$work/state/$lab/applications/h1/hosts"; }
built_in_host_returns_messages() {
  gcc -O1 -o "$work/libfabric_echo" "$here/libfabric_echo.c" -lfabric || return 1
  on h1 "$work/libfabric_echo" "$(address_of h4)" >"$work/out" || { cat "$work/out"; return 1; }
  say '%s' "$(cat "$work/out")"
}
another_job_is_refused() {
  local status=0
  # That of the fabric file is the one that programs have.
  RAILYARD_JOB_ID=4660 on h1 "$work/libfabric_echo" "$(address_of h4)" >"$work/out" || { cat "$work/out"; return 1; }
  RAILYARD_JOB_ID=7 on h1 "$work/libfabric_echo" "$(address_of h4)" >"$work/out" || status=$?
  cat "$work/out"
  say '%s' "$(cat "$work/out")"
  (( status == 3 )) || return 1
  ! RAILYARD_JOB_ID=16777216 on h1 "$work/libfabric_echo" "$(address_of h4)" 2>"$work/out" || return 1
  grep 'expected a number in 1..16777215' "$work/out"
}
# The dialect of the public reference provider, on both ends: no UDP below it, one path.
the_reference_dialect_is_spoken() {
  "$railyard" down || return 1
  lab_comes_up --set hosts.default.uet.profile=ref-prov || return 1
  pingpong railyard -e rdm -m tagged -c -I 20
}
# Connected endpoints are RoCE's, by libfabric's own provider for libibverbs and librdmacm.
connected_endpoints() {
  local h3 i server
  h3=$(address_of h3)
  gcc -O1 -o "$work/libfabric_msg" "$here/libfabric_msg.c" -lfabric || return 1
  on h3 "$work/libfabric_msg" server "$h3" 7471 >"$work/server" 2>&1 & server=$!
  for (( i = 0; i < 50; ++i )); do
    on h1 "$work/libfabric_msg" client "$h3" 7471 >"$work/out" 2>&1 && break
    sleep 0.1
  done
  cat "$work/out"
  say '%s' "$(tail -n1 "$work/out")"
  wait "$server" && grep -q 'all right' "$work/out"
}

check "up: four hosts of applications, leaf-spine" lab_comes_up
check "fi_info: the device" device_is_listed
check "fi_pingpong, tagged, every octet" pingpong railyard -e rdm -m tagged -c
check "fi_pingpong, messages, every octet" pingpong railyard -e rdm -m msg -c
check "fi_pingpong, datagrams" pingpong railyard -e dgram -S 1024 -I 100
check "they cross the spines" crosses_the_spines
check "fi_pingpong, 8 octets" pingpong railyard -e rdm -m tagged -S 8 -I 5000
check "fi_pingpong, 64 KiB" pingpong railyard -e rdm -m tagged -S 65536 -I 500
check "a program of MPI" program_is_built
check "MPI, two ranks, every octet up to $most MiB" mpi_is_right h1 h3
check "MPI, four ranks on two leaves, every octet" mpi_is_right h1 h2 h3 h4
if [[ -n $long ]]; then
  check "beside it: fi_pingpong over tcp, 8 octets" pingpong tcp -e msg -S 8 -I 5000
  check "beside it: fi_pingpong over tcp, 64 KiB" pingpong tcp -e msg -S 65536 -I 500
  provider=tcp check "beside it: MPI over tcp, two ranks" mpi_is_right h1 h3
  provider=tcp check "beside it: MPI over tcp, four ranks" mpi_is_right h1 h2 h3 h4
fi
check "1 % of loss: every octet all the same" loss_is_repaired
check "a killed peer: an error here, all taken back there" a_killed_peer_is_missed
check "FI_EP_MSG, by libfabric's verbs, every octet" connected_endpoints
check "congestion: marks and trimmed packets are seen" congestion_is_seen
check "a built-in host returns messages, every octet" built_in_host_returns_messages
check "a program of another job is refused" another_job_is_refused
check "the reference provider's dialect, every octet" the_reference_dialect_is_spoken
check "down leaves nothing" down_leaves_nothing
exit "$failed"
