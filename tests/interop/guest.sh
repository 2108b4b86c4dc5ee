#!/usr/bin/env bash
# One lasting guest, without a fabric: booted, commands of all kinds run in it by its agent, stopped. With times.
#
# usage: guest.sh [railyard-guest BINARY]
# shellcheck disable=SC2317,SC2016  # functions are called by check; what stands in single quotes is for the guest
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
guest=${1:-$root/build/release/bin/railyard-guest}
[[ -x $guest ]] || { echo "guest.sh: no $guest (cmake --build --preset release --target railyard-guest)" >&2; exit 125; }
out=$(mktemp -d "${TMPDIR:-/tmp}/railyard-interop.XXXXXX")
dir=$out/vm
failed=0
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  "$guest" down "$dir" >/dev/null 2>&1 || true
  rm -rf -- "$out"
}
trap cleanup EXIT
in_guest() { "$guest" exec "$dir" -- "$@"; }

# check TEXT COMMAND...: the command (a function or program) must succeed. `set -e` does not hold inside.
check() {
  local text=$1 began=$EPOCHREALTIME rc=0; shift
  "$@" >"$out/log" 2>&1 || rc=$?
  local ms=$(( (${EPOCHREALTIME/[.,]/} - ${began/[.,]/}) / 1000 ))
  if (( rc == 0 )); then
    printf 'ok    %-52s %3d.%03d s\n' "$text" $((ms / 1000)) $((ms % 1000))
  else
    printf 'FAIL  %-52s (status %d)\n' "$text" "$rc"; sed 's/^/      /' "$out/log"; failed=1
  fi
}
status() { # EXPECTED COMMAND...
  local want=$1 rc=0; shift
  "$@" || rc=$?
  (( rc == want )) || { echo "status $rc, expected $want"; return 1; }
}

boot() { "$guest" up "$dir" --name h1 --nics 2 --limit 300; }
says() { [[ $(in_guest echo "two  words" '$HOME' </dev/null) == 'two  words $HOME' ]]; }
streams() {
  in_guest sh -c 'echo out; echo err >&2' </dev/null >"$out/1" 2>"$out/2" &&
  [[ $(<"$out/1") == out && $(<"$out/2") == err ]]
}
both_ways() { in_guest cat <"$out/mib" | cmp - "$out/mib"; }
rdma_tools() {
  in_guest sh -c 'ibv_devices && ibv_devinfo && rdma link && ip -br link' </dev/null >"$out/rdma" && cat "$out/rdma" &&
    grep -q '^ *rxe2 ' "$out/rdma" && grep -q 'state ACTIVE' "$out/rdma"
}
killed() { status 137 in_guest sh -c 'kill -KILL $$' </dev/null; }
forwarded() { # a signal of ours reaches the command
  local rc=0
  mkfifo "$out/ready"
  "$guest" exec "$dir" -- sh -c 'trap "exit 9" TERM; echo ready; while :; do sleep 0.05; done' </dev/null >"$out/ready" &
  local client=$!
  read -r _ <"$out/ready"
  kill -TERM "$client"
  wait "$client" || rc=$?
  (( rc == 9 )) || { echo "status $rc, expected 9"; return 1; }
}
client_dies() { # its processes in the guest die with it, soon: nobody waits for that
  mkfifo "$out/runs"
  "$guest" exec "$dir" -- sh -c 'echo runs; exec sleep 4321' </dev/null >"$out/runs" &
  local client=$!
  read -r _ <"$out/runs"
  kill -KILL "$client"
  wait "$client" 2>/dev/null || true
  for _ in {1..50}; do
    in_guest sh -c '! ps | grep -v grep | grep -q "sleep 4321"' </dev/null && return 0
  done
  return 1
}
eight() {
  local i clients=()
  for i in 1 2 3 4 5 6 7 8; do
    mkfifo "$out/in$i"
    "$guest" exec "$dir" -- sh -c 'echo ready; read -r x; echo "got $x"' <"$out/in$i" >"$out/out$i" &
    clients+=($!)
    eval "exec 2$i>\"\$out/in$i\""
  done
  for i in 1 2 3 4 5 6 7 8; do
    for _ in {1..600}; do [[ ! -s $out/out$i ]] || break; sleep 0.05; done
    [[ -s $out/out$i ]] || { echo "session $i does not start"; return 1; }
  done
  status 125 in_guest true </dev/null 2>"$out/ninth" || return 1
  grep -q 'all 8 sessions are in use' "$out/ninth" || return 1
  for i in 1 2 3 4 5 6 7 8; do eval "echo $i >&2$i; exec 2$i>&-"; done
  for i in "${clients[@]}"; do wait "$i" || return 1; done
  for i in 1 2 3 4 5 6 7 8; do grep -qx "got $i" "$out/out$i" || return 1; done
}
copies() {
  chmod 751 "$out/mib" && "$guest" put "$dir" "$out/mib" /tmp/there &&
    [[ $(in_guest stat -c %a /tmp/there </dev/null) == 751 ]] &&
    "$guest" get "$dir" /tmp/there "$out/back" && cmp "$out/mib" "$out/back" && [[ $(stat -c %a "$out/back") == 751 ]]
}
idle() { # less than 5 % of a CPU for nothing to do
  local pid before after
  pid=$(<"$dir/qemu.pid")
  before=$(awk '{print $14 + $15}' "/proc/$pid/stat")
  sleep 3
  after=$(awk '{print $14 + $15}' "/proc/$pid/stat")
  echo "$((after - before)) ticks in 3 s"
  (( after - before < 3 * $(getconf CLK_TCK) / 20 ))
}

"$root/tools/softroce/build-image.sh"
head -c 1048576 /dev/urandom >"$out/mib"
check "boot" boot
(( failed == 0 )) || exit 1
check "true: status 0" in_guest true </dev/null
check "false: status 1" status 1 in_guest false </dev/null
check "no such program: status 127" status 127 in_guest no-such-program </dev/null
check "arguments arrive as they are" says
check "standard output and error are two" streams
check "1 MiB through cat and back" both_ways
check "RDMA and network tools" rdma_tools
check "killed by a signal: status 137" killed
check "SIGTERM here is SIGTERM there" forwarded
check "a client that is killed takes its processes along" client_dies
check "eight sessions at once, and not nine" eight
check "1 MiB file into the guest and back, with its mode" copies
check "an idle guest costs (next to) nothing" idle
check "stop" "$guest" down "$dir"
check "and it is gone" status 1 "$guest" down "$dir"
exit "$failed"
