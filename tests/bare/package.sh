#!/usr/bin/env bash
# The Debian packages on a machine that has nothing: a Debian 12 of its own (debootstrap, chroot) installs them with what
# they ask for, and nothing else; a lab runs; they are removed without a trace.
#
# usage: tests/bare/package.sh [--packages FOLDER] [FOLDER]
#   --packages FOLDER   packages that are there already; without it tools/package.sh builds them
#   FOLDER              a Debian that is kept there for the next time; without it a temporary one
# Needs root, and a network to fetch packages from.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/common.sh"
(( EUID == 0 )) || { echo "bare packages: skipped: needs root" >&2; exit 77; }
command -v debootstrap >/dev/null || { echo "bare packages: skipped: no debootstrap (Debian: debootstrap)" >&2; exit 77; }

packages=
if [[ ${1:-} == --packages ]]; then packages=${2:?--packages needs a folder}; shift 2; fi
keep=${1:-}
debian=${keep:-$(mktemp -d "${TMPDIR:-/tmp}/railyard-package.XXXXXX")}
mounted=
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  [[ -z $mounted ]] || umount -R -l "$debian" || true
  [[ -n $keep ]] || rm -rf --one-file-system -- "$debian"
}
trap cleanup EXIT

[[ -n $packages ]] || { "$root/tools/package.sh" && packages=$root/build/release/packages; }
debs=("$packages"/railyard*.deb)
(( ${#debs[@]} == 3 )) || die "expected three packages: ${debs[*]}"
if [[ ! -x $debian/usr/bin/apt-get ]]; then
  mkdir -p "$debian"
  debootstrap --variant=minbase --include=ca-certificates bookworm "$debian" >"$debian.log" 2>&1 || { tail "$debian.log"; exit 1; }
  rm -f "$debian.log"
fi
chmod 755 "$debian"
mount --bind "$debian" "$debian"
mounted=yes
mount --make-private "$debian"
cp /etc/resolv.conf "$debian/etc/resolv.conf"
for m in proc sys dev; do mount --rbind "/$m" "$debian/$m"; mount --make-rslave "$debian/$m"; done
in_debian() { chroot "$debian" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 HOME=/root DEBIAN_FRONTEND=noninteractive "$@"; }

in_debian dpkg --purge railyard-softroce railyard-mpi railyard >/dev/null 2>&1 || true
rm -rf "$debian/debs"; mkdir "$debian/debs"
cp "${debs[@]}" "$debian/debs/"
in_debian sh -c 'apt-get -qq update && apt-get -qq install -y --no-install-recommends /debs/railyard_*.deb >/debs/log 2>&1' ||
  { cat "$debian/debs/log"; die "the package cannot be installed"; }
[[ $(in_debian railyard --version) == railyard\ * ]] || die "no version"
in_debian sh -c 'cd /tmp && railyard run /usr/share/railyard/topologies/incast-8to1.yaml --json' >"$debian/debs/run.json" ||
  die "a lab does not run with what the package asks for"
grep -q '"balanced": true' "$debian/debs/run.json" || die "the accounting does not balance"
in_debian sh -c 'railyard docs && railyard up /usr/share/railyard/topologies/incast-8to1.yaml --detach && railyard status --audit && railyard down' ||
  die "a lab does not come up with what the package asks for"
in_debian sh -c 'apt-get -qq install -y --no-install-recommends /debs/railyard-mpi_*.deb >/debs/log 2>&1' ||
  { cat "$debian/debs/log"; die "railyard-mpi cannot be installed"; }
in_debian sh -c 'cd /tmp && mpirun --allow-run-as-root --oversubscribe -n 2 railyard run /usr/share/railyard/topologies/incast-8to1.yaml --duration 10us --json' >"$debian/debs/run.json" ||
  die "a lab does not run in two processes"
grep -q '"frames_sent"' "$debian/debs/run.json" || die "two processes are one"
in_debian sh -c 'ldd /usr/bin/railyard-agent | grep -q "not found"' && die "railyard-agent lacks libraries"
in_debian dpkg --purge railyard-mpi railyard >/dev/null || die "the package cannot be removed"
# /run/railyard itself stays until the machine is booted again, and is empty.
left=$(in_debian sh -c 'find /usr /etc /lib /var/lib -xdev -name "*railyard*" -not -path "/var/lib/apt/*"; find /run/railyard -mindepth 1; ls /run/dpdk 2>/dev/null')
[[ -z $left ]] || die "removed, it leaves: $left"
echo "ok: installed, a lab ran and came up, removed"
