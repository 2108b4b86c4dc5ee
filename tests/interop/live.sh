#!/usr/bin/env bash
# A live lab of two SoftRoCE guests on two rails, from the command line: up, RDMA over both rails while a link goes down
# and comes back, down. No root.
#
# usage: live.sh
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=$root/build/release/bin/railyard
out=$(mktemp -d "${TMPDIR:-/tmp}/railyard-interop.XXXXXX")
export RAILYARD_STATE_DIR=$out/state RAILYARD_SOFTROCE_ACCEL=${RAILYARD_SOFTROCE_ACCEL:-tcg}
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$railyard" down --all >/dev/null 2>&1 || true; rm -rf -- "$out"; }
trap cleanup EXIT
failed=0
check() { # TEXT COMMAND...
  local text=$1 began=$SECONDS; shift
  if "$@" >"$out/log" 2>&1; then
    printf 'ok    %-58s (%d s)  %s\n' "$text" $((SECONDS - began)) "$(tail -n1 "$out/summary" 2>/dev/null || true)"
  else
    printf 'FAIL  %s\n' "$text"; sed 's/^/      /' "$out/log"; failed=1
  fi
  rm -f "$out/summary"
}
on() { local host=$1; shift; "$railyard" exec "$host" -- "$@" </dev/null; }
# A perftest tool: the server on h2, the client on h1, over rail R (1, 2).
perftest() { # R TOOL ARGUMENT...
  local rail=$1 tool=$2 server; shift 2
  on h2 "$tool" -d "rxe$rail" "$@" >"$out/server" 2>&1 & server=$!
  for (( i = 0; i < 100; ++i )); do on h2 sh -c "netstat -ltn 2>/dev/null | grep -q ':18515 '" && break; sleep 0.2; done
  on h1 "$tool" -d "rxe$rail" "$@" "10.9.$rail.2" >"$out/client" || { cat "$out/client" "$out/server"; return 1; }
  wait "$server"
  cat "$out/client"
  awk '/^ *[0-9]+ +[0-9]/ { print }' "$out/client" | tail -n1 >"$out/summary"
  [[ -s $out/summary ]]
}
# The same while the link of the rail's sender is away for a second: RC sends again what was lost.
while_broken() { # R PORT TOOL ARGUMENT...
  local rail=$1 port=$2; shift 2
  ( sleep 3; "$railyard" link down "$port"; sleep 1; "$railyard" link up "$port" ) >"$out/broken" & local breaker=$!
  perftest "$rail" "$@" || return 1
  wait "$breaker"
  grep -q 'is up since' "$out/broken"
}
ping_both() { on h1 ping -c 2 -W 5 10.9.1.2 && on h1 ping -c 2 -W 5 10.9.2.2; }
rping_pair() {
  on h2 rping -s -a 10.9.1.2 -C 20 >"$out/server" 2>&1 & local server=$!
  sleep 2
  on h1 rping -c -a 10.9.1.2 -C 20 || { cat "$out/server"; return 1; }
  wait "$server"
}
copies() {
  head -c 100000 /dev/urandom >"$out/file"
  "$railyard" cp "$out/file" h1:/root/file && "$railyard" cp h1:/root/file "$out/back" && cmp "$out/file" "$out/back"
}
lost_on_the_way() {
  "$railyard" status --json | jq -e '[.ports[] | .lost_on_link + (.drops.link_down // 0)] | add > 0'
}
down_leaves_nothing() {
  "$railyard" down
  ! pgrep -f "$out" && [[ -z $(find "$out/state" -mindepth 1) ]]
}

check "up: two guests, two rails" "$railyard" up "$root/topologies/labs/softroce-pair.yaml" --detach
check "ping over both rails" ping_both
check "rping" rping_pair
check "ib_write_bw, rail 1" perftest 1 ib_write_bw -n 500
check "ib_send_lat, rail 2" perftest 2 ib_send_lat -n 500
check "ib_write_bw, rail 1, while its link is down for 1 s" while_broken 1 leaf1:1 ib_write_bw -D 8 --report_gbits
check "what was lost is counted" lost_on_the_way
check "a file to a guest and back" copies
check "the books balance" "$railyard" status --audit
check "down leaves nothing" down_leaves_nothing
exit "$failed"
