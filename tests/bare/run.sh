#!/usr/bin/env bash
# The two set-up commands on a machine that has nothing: in a Debian 12 of its own (debootstrap, chroot), from a clone of
# what is committed, first as root, then without root where the packages are.
#
# usage: tests/bare/run.sh [--keep FOLDER] [COMMAND...]
#   --keep FOLDER   the Debian is made there and stays, for the next time; without it a temporary one, removed in the end
#   COMMAND...      what is run in the clone instead of `.ci/run` as root and `tools/quickstart.sh` as another user
# Needs root, and a network to fetch packages from. Nothing is compiled ahead: it takes as long as the first time does.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
(( EUID == 0 )) || { echo "bare: skipped: needs root" >&2; exit 77; }
command -v debootstrap >/dev/null || { echo "bare: no debootstrap (Debian: debootstrap)" >&2; exit 2; }

keep=
if [[ ${1:-} == --keep ]]; then keep=${2:?--keep needs a folder}; shift 2; fi
debian=${keep:-$(mktemp -d "${TMPDIR:-/tmp}/railyard-bare.XXXXXX")}
mounted=
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  [[ -z ${mounted:-} ]] || umount -R -l "$debian" || true
  [[ -n $keep ]] || rm -rf --one-file-system -- "$debian"
}
trap cleanup EXIT

if [[ ! -x $debian/usr/bin/git ]]; then
  mkdir -p "$debian"
  debootstrap --variant=minbase --include=ca-certificates,git bookworm "$debian" >"$debian.log" 2>&1 ||
    { tail -n 20 "$debian.log" >&2; exit 1; }
  rm -f "$debian.log"
fi
# A root of its own for namespaces (mount --make-rslave / wants a mount there), which others than root may enter.
chmod 755 "$debian"
mount --bind "$debian" "$debian"
mounted=yes
mount --make-private "$debian"
cp /etc/resolv.conf "$debian/etc/resolv.conf"
[[ -e $debian/etc/hosts ]] || printf '127.0.0.1\tlocalhost\n' >"$debian/etc/hosts"  # as every installer writes
for m in proc sys dev; do mount --rbind "/$m" "$debian/$m"; mount --make-rslave "$debian/$m"; done

# A clone for each user, and no cache of a compiler's.
rm -rf "$debian/root/.cache" "$debian/home/user" "$debian/root/railyard"
git clone -q "$root" "$debian/root/railyard"
in_debian() { chroot "$debian" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "$@"; }
timed() { # WHAT COMMAND...
  local what=$1 began=$SECONDS; shift
  "$@" </dev/null || { printf -- '--- %s: FAILED (%d s)\n' "$what" $((SECONDS - began)); exit 1; }
  printf -- '--- %s: ok (%d s)\n' "$what" $((SECONDS - began))
}

if (( $# )); then
  timed "$*" in_debian HOME=/root CI=true bash -c 'cd /root/railyard && exec "$@"' - "$@"
  exit
fi
timed "as root, .ci/run" in_debian HOME=/root CI=true bash -c 'cd /root/railyard && .ci/run'
mkdir -p "$debian/home/user"
git clone -q "$root" "$debian/home/user/railyard"
chown -R 1000:1000 "$debian/home/user"
timed "without root, tools/quickstart.sh" in_debian HOME=/home/user setpriv --reuid=1000 --regid=1000 --clear-groups \
  --no-new-privs bash -c 'cd /home/user/railyard && tools/quickstart.sh'
