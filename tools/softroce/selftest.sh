#!/usr/bin/env bash
# selftest.sh - build the image if needed, then prove that the lab works, with times.
#   1. one guest, both ends, over a plain wire
#   2. two guests over a plain wire
#   3. two guests over DPDK vhost-user ports (testpmd), if dpdk-testpmd is there
#   4. loss, CE marks and a corrupted frame on the wire (wire.py), if python3 is there
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
dir=$(mktemp -d "${TMPDIR:-/tmp}/railyard-softroce-test.XXXXXX")
wpid=
trap '[[ -z $wpid ]] || kill "$wpid" 2>/dev/null || true; rm -rf -- "$dir"' EXIT
fail=0
step() { # NAME COMMAND...
  local name=$1 t0=$EPOCHREALTIME rc=0; shift
  "$@" >"$dir/out" 2>&1 || rc=$?
  local ms=$(( (${EPOCHREALTIME/[.,]/} - ${t0/[.,]/}) / 1000 ))
  if (( rc == 0 )); then
    printf 'ok    %-12s %3d.%d s  %s\n' "$name" $((ms / 1000)) $((ms % 1000 / 100)) "$(grep -oh 'stream [0-9].*' "$dir/out" | head -n1 || true)"
  else
    printf 'FAIL  %-12s (status %d)\n' "$name" "$rc"; sed 's/^/      /' "$dir/out"; fail=1
  fi
}
wire() { printf 'dgram,local.type=unix,local.path=%s/%s,remote.type=unix,remote.path=%s/%s' "$dir" "$1" "$dir" "$2"; }

step build "$here/build-image.sh"
step one-guest "$here/run-vm.sh" --script "$here/scripts/oneguest.sh" --ip 10.9.0.1/24,10.9.0.2/24 \
  --netdev "$(wire a b)" --netdev "$(wire b a)"
step two-guests "$here/run-pair.sh" --script "$here/scripts/check.sh"
if command -v dpdk-testpmd >/dev/null; then
  step vhost-user "$here/testpmd-switch.sh" "$dir/sw" "$here/run-pair.sh" --script "$here/scripts/check.sh" \
    --a "vhost-user,path=$dir/sw/port0.sock" --b "vhost-user,path=$dir/sw/port1.sock"
fi
if command -v python3 >/dev/null; then
  python3 "$here/wire.py" --port "$dir/p0" --port "$dir/p1" --match 6,7,8 --drop 20,100 --corrupt 300 --ce >"$dir/wire.out" &
  wpid=$!
  step faults "$here/run-vm.sh" --script "$here/scripts/oneguest.sh" --ip 10.9.0.1/24,10.9.0.2/24 \
    --netdev "$(wire p0.vm p0)" --netdev "$(wire p1.vm p1)"
  kill "$wpid"; wait "$wpid" || true; wpid=
  grep -q 'dropped=2' "$dir/wire.out" || { echo "FAIL  wire.py counted: $(tr '\n' ' ' <"$dir/wire.out")"; fail=1; }
fi
exit "$fail"
