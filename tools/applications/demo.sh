#!/usr/bin/env bash
# Unmodified RDMA programs across an emulated leaf-spine fabric, on a machine without RDMA hardware: ib_write_bw, then an
# MPI all-reduce of four ranks over RoCEv2 (UCX) and over Ultra Ethernet (libfabric). tools/quickstart.sh --applications
# builds what it needs.
#
# usage: tools/applications/demo.sh
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
(( $# == 0 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2; }
railyard=$root/build/release/bin/railyard
[[ -x $railyard ]] || railyard=$(command -v railyard) || { echo "demo.sh: no railyard; run tools/quickstart.sh --applications" >&2; exit 2; }
lab=demo-$$
export RAILYARD_LAB=$lab
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-demo.XXXXXX")
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$railyard" down "$lab" >/dev/null 2>&1 || true; give_back_processors; rm -rf -- "$work"; }
trap cleanup EXIT
. "$here/priority.sh"
take_processors -10
show() { printf '\n$ %s\n' "$*"; }

show "railyard up topologies/labs/applications.yaml --detach"
"$railyard" up "$root/topologies/labs/applications.yaml" --name "$lab" --detach

show "railyard exec h3 -- ib_write_bw -d railyard0 &"
show "railyard exec h1 -- ib_write_bw -d railyard0 127.0.0.1"
port=$(( 20000 + $$ % 20000 ))
"$railyard" exec h3 -- ib_write_bw -d railyard0 -F -p "$port" --report_gbits </dev/null >"$work/server" 2>&1 & server=$!
until ss -ltnH "sport = :$port" | grep -q . || ! kill -0 "$server" 2>/dev/null; do sleep 0.05; done
"$railyard" exec h1 -- ib_write_bw -d railyard0 -F -p "$port" --report_gbits 127.0.0.1 </dev/null
wait "$server"

mpicc -O2 -o "$work/allreduce" "$here/allreduce.c"
ranks=()
for host in h1 h2 h3 h4; do ranks+=(-np 1 "$railyard" exec "$host" -- "$work/allreduce" 1048576 10 :); done
unset 'ranks[-1]'
common=(--allow-run-as-root --oversubscribe --bind-to none)
show "mpirun --mca pml ucx ... railyard exec h1 -- ./allreduce : ... : railyard exec h4 -- ./allreduce      (RoCEv2)"
UCX_TLS=rc_v,ud_v,self UCX_NET_DEVICES=railyard0:1 UCX_RC_TIMEOUT=8s mpirun "${common[@]}" --mca pml ucx --mca pml_ucx_tls any \
  --mca pml_ucx_devices any --mca btl '^openib' "${ranks[@]}" </dev/null
show "mpirun --mca pml cm --mca mtl ofi ... railyard exec h1 -- ./allreduce : ...      (Ultra Ethernet)"
mpirun "${common[@]}" --mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include railyard --mca btl self,vader \
  "${ranks[@]}" </dev/null

show "railyard status"
"$railyard" status
cat <<'MSG'

These were ib_write_bw and Open MPI as Debian ships them: their packets crossed two leaves and two spines, with queues,
ECN marks and PFC. docs/applications.md shows how to run your own program and how to break the fabric under it.

  tools/applications/compare.sh --report build/compare     # RoCEv2, Ultra Ethernet and TCP, with an incast and a link flap
MSG
