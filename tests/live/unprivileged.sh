#!/usr/bin/env bash
# A live lab of a user without any privilege: what needs none works, what needs some says so and leaves nothing.
#
# usage: tests/live/unprivileged.sh
# Needs the release build (build/release); as root it becomes the user `nobody`.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
for tool in jq setpriv; do
  command -v "$tool" >/dev/null || { echo "unprivileged: no $tool (Debian: jq, util-linux)" >&2; exit 2; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-user.XXXXXX")
as=()
(( EUID != 0 )) || as=(setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all)
as_user() { "${as[@]}" env -u XDG_RUNTIME_DIR RAILYARD_STATE_DIR="$work/state" HOME="$work" "$@"; }
# shellcheck disable=SC2317  # called by the trap
cleanup() { as_user "$work/bin/railyard" down --all >/dev/null 2>&1 || true; rm -rf -- "$work"; }
trap cleanup EXIT
die() { printf 'unprivileged: %s\n' "$*" >&2; exit 1; }

# Where that user can reach it.
mkdir "$work/bin" "$work/state"
cp "$root"/build/release/bin/{railyard,railyardd} "$work/bin"
cat >"$work/lab.yaml" <<'YAML'
name: unprivileged
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
traffic: [ { name: t, pattern: permutation, rate: 10Mbps } ]
run: { memory: 256MiB }
YAML
chmod -R a+rX "$work"
(( EUID != 0 )) || chown 65534:65534 "$work/state"
railyard() { as_user "$work/bin/railyard" "$@"; }

railyard up "$work/lab.yaml" --detach >/dev/null || die "no up"
(( $(ps -o uid= -p "$(railyard ls --json | jq '.[0].pid')") != 0 )) || die "it runs as root"
railyard link down leaf1:1 >/dev/null && railyard link up leaf1:1 >/dev/null || die "no link down and up"
railyard set qos.default.classes.3.ecn.kmin=100KB >/dev/null || die "no set"
railyard attach h4 "memif=$work/state/m.sock" 2>"$work/said" && die "a host with traffic was attached"
grep -q 'has built-in traffic' "$work/said" || die "attach says: $(cat "$work/said")"
railyard status --audit >/dev/null || die "the books do not balance"
railyard down >/dev/null || die "no down"
echo "up, link, set, status, down: without any privilege"

refused() { # WORDS ATTACH
  if railyard up "$work/lab.yaml" --detach --set traffic= --set "nodes.h1.attach=$2" >"$work/said" 2>&1; then die "$2: it is up"; fi
  grep -q -- "$1" "$work/said" || die "$2 says: $(cat "$work/said")"
  (( $(wc -l <"$work/said") == 1 )) || die "$2 says more than one line: $(cat "$work/said")"
  [[ -z $(ls -A "$work/state") ]] || die "$2 leaves $(ls -A "$work/state")"
}
refused 'need root (CAP_NET_ADMIN and CAP_SYS_ADMIN)' namespace
refused 'CAP_NET_ADMIN' '{ tap: ryuser0 }'
refused 'CAP_NET_RAW' '{ netdev: lo }'
echo "namespace, tap, netdev: refused in one line, and nothing is left"
