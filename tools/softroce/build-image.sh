#!/usr/bin/env bash
# build-image.sh - build a small bootable SoftRoCE (rdma_rxe) guest from Debian packages.
#
# Result, in $RAILYARD_SOFTROCE_CACHE (default: ${XDG_CACHE_HOME:-$HOME/.cache}/railyard/softroce):
#   vmlinux        uncompressed ELF kernel (booted through its PVH entry: no
#                  decompression inside the guest, which saves seconds under TCG)
#   initrd.cpio    uncompressed initramfs: busybox + rdma/perftest tools + modules
#   manifest.txt   package versions the image holds
#   agent-version  version of what the guest's agent speaks (RY_AGENT_VERSION); absent: there is no agent
#   debs/          the downloaded packages (kept, so that a rebuild is offline)
#
# verbs_check (guest/verbs_check.c), a data-checking verbs exerciser, cm_check (guest/cm_check.c),
# a client of what built-in NICs serve, and railyard-agent (guest/agent.c), which runs commands for
# the host in a lasting guest, are compiled into the image when the host has a C compiler; their
# headers come from the packages too.
#
# Needs no root. Host tools: apt-get + apt-cache (with fresh lists), dpkg-deb,
# readelf (binutils), xz, awk. Everything else comes out of the packages.
#
# Environment:
#   RAILYARD_SOFTROCE_CACHE       where to put the result
#   RAILYARD_SOFTROCE_KERNEL_PKG  kernel meta or image package (default linux-image-amd64;
#                       the *cloud* flavour has no rdma_rxe)
#   RAILYARD_SOFTROCE_MODULES     extra kernel modules to load at boot (blank separated)
#   RAILYARD_SOFTROCE_FORCE=1     rebuild even if a finished image is there
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
cache=${RAILYARD_SOFTROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/railyard/softroce}
kernel_pkg=${RAILYARD_SOFTROCE_KERNEL_PKG:-linux-image-amd64}

# Tools that go into the guest, and the packages they are taken from.
packages=(busybox-static bash iproute2 ibverbs-utils ibverbs-providers perftest rdmacm-utils libibverbs-dev librdmacm-dev)
tools=(bash ip tc ss rdma
  ibv_asyncwatch ibv_devices ibv_devinfo ibv_rc_pingpong ibv_uc_pingpong ibv_ud_pingpong ibv_srq_pingpong
  rping udaddy ucmatose
  ib_send_bw ib_send_lat ib_write_bw ib_write_lat ib_read_bw ib_read_lat
  ib_atomic_bw ib_atomic_lat)

# Modules, in the order they are wanted; dependencies are found and put before them.
# "?name": not in every kernel, leave it out where it is not. crc32 is what rxe computes
# the ICRC with.
# shellcheck disable=SC2206  # blank separated list
modules=(virtio_pci virtio_net '?crc32_generic' ib_uverbs rdma_rxe rdma_ucm '?8021q' '?sch_netem' ${RAILYARD_SOFTROCE_MODULES:-})
# Only for guests with the agent: its ports, and where it is told its network.
modules_agent=(virtio_console qemu_fw_cfg)

log() { printf 'build-image: %s\n' "$*" >&2; }
die() { log "$*"; exit 1; }

for t in apt-get apt-cache dpkg-deb readelf xz awk; do
  command -v "$t" >/dev/null || die "missing host tool: $t"
done

mkdir -p "$cache/debs"
if command -v flock >/dev/null; then exec 8>"$cache/lock"; flock 8; fi   # one build at a time

# A fingerprint of everything that decides the image's content.
# In the source tree, or as installed.
sources=$here/../..
[[ -f $sources/control/guest/agent_frame.h ]] || sources=$here
frame_h=$sources/control/guest/agent_frame.h
stamp=$(cat "$here/build-image.sh" "$here"/guest/* "$frame_h" <(printf '%s\n' "$kernel_pkg" "${modules[@]}") | sha256sum | cut -c1-16)
if [[ -z ${RAILYARD_SOFTROCE_FORCE:-} && -f $cache/stamp && $(<"$cache/stamp") == "$stamp" ]]; then
  log "up to date: $cache"
  exit 0
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-softroce-build.XXXXXX")
trap 'rm -rf -- "$work"' EXIT
mkdir -p "$work/sys" "$work/root"

# ---- packages ---------------------------------------------------------------
# A meta package (linux-image-amd64) has to be turned into the real image package.
kernel_real=$(apt-cache depends "$kernel_pkg" | awk '$1=="Depends:" && $2 ~ /^linux-image-/ && !f {print $2; f=1}')
kernel_real=${kernel_real:-$kernel_pkg}

# Shared libraries: every lib* package in the dependency closure.
mapfile -t libs < <(apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts \
    --no-breaks --no-replaces --no-enhances "${packages[@]}" |
    awk '/^(lib|zlib1g)[a-z0-9.+-]*$/ {print}' | sort -u)
(( ${#libs[@]} > 5 )) || die "apt's package lists are incomplete; run 'apt-get update' first"

want=("$kernel_real" "${packages[@]}" "${libs[@]}")
declare -A version=()
while read -r p v; do version[$p]=${version[$p]:-$v}; done < <(
  apt-cache show --no-all-versions "${want[@]}" 2>/dev/null |
    awk '$1=="Package:"{p=$2} $1=="Version:"{print p, $2}')
deb_for() { # the cached .deb of a package at its candidate version, or nothing
  local v=${version[$1]:-}
  compgen -G "$cache/debs/${1}_${v//:/%3a}_*.deb" | head -n1 || true
}
missing=()
for p in "${want[@]}"; do [[ -n $(deb_for "$p") ]] || missing+=("$p"); done
if (( ${#missing[@]} )); then
  log "downloading ${#missing[@]} packages"
  ( cd "$cache/debs" && apt-get -qq download "${missing[@]}" ) 2> >(grep -v unsandboxed >&2) ||
    die "package download failed; run 'apt-get update' first"
fi
: >"$work/manifest.txt"
for p in "${want[@]}"; do
  deb=$(deb_for "$p"); [[ -n $deb ]] || die "no package file for $p"
  dpkg-deb -x "$deb" "$work/sys"
  basename "$deb" >>"$work/manifest.txt"
done

# ---- kernel -----------------------------------------------------------------
vmlinuz=$(compgen -G "$work/sys/boot/vmlinuz-*" | head -n1) || die "no kernel in $kernel_real"
krel=${vmlinuz##*/vmlinuz-}
# bzImage setup header: setup_sects @0x1f1, payload_offset @0x248, payload_length @0x24c.
u8()  { od -An -tu1 -j "$1" -N1 "$vmlinuz" | tr -d ' '; }
u32() { od -An -tu4 -j "$1" -N4 "$vmlinuz" | tr -d ' '; }
off=$(( ( $(u8 $((0x1f1))) + 1 ) * 512 + $(u32 $((0x248))) ))
len=$(u32 $((0x24c)))
payload() { tail -c "+$((off + 1))" "$vmlinuz" | head -c "$1" || true; }
case $(payload 6 | od -An -tx1 | tr -d ' \n') in
  fd377a585a00) unpack=(xz -dc --single-stream) ;;
  28b52ffd*)    unpack=(zstd -dcq) ;;
  1f8b*)        unpack=(gzip -dc) ;;
  02214c18*)    unpack=(lz4 -dc) ;;
  *) die "unknown kernel compression" ;;
esac
# The payload carries 4 bytes of size after the stream; decoders may complain about it.
payload "$len" | "${unpack[@]}" >"$work/vmlinux" 2>/dev/null || true
readelf -h "$work/vmlinux" >/dev/null || die "kernel did not unpack to an ELF file"

# ---- root file system -------------------------------------------------------
root=$work/root
mkdir -p "$root"/{bin,sbin,proc,sys,dev,tmp,run,etc,lib,lib64,usr/lib,var,root,modules}
bb=$(find "$work/sys" -path '*bin/busybox' -type f -print -quit)
[[ -n $bb ]] || die "no busybox"
install -m 755 "$bb" "$root/bin/busybox"
install -m 755 "$here/guest/init" "$root/init"
install -m 644 "$here/guest/lib.sh" "$root/lib/lab.sh"
install -m 644 "$here/guest/shrc" "$root/etc/shrc"
install -m 644 "$here/guest/shrc" "$root/root/.bashrc"
for a in $("$bb" --list); do
  [[ $a == busybox ]] || ln -s busybox "$root/bin/$a"
done

# Copy a program and, recursively, the shared objects it needs.
libdirs=("$work/sys/lib/x86_64-linux-gnu" "$work/sys/usr/lib/x86_64-linux-gnu" "$work/sys/lib64" "$work/sys/usr/lib64")
declare -A have=()
need() { # FILE: copy what FILE links to
  local so dir f
  while read -r so; do
    [[ -z ${have[$so]:-} ]] || continue
    f=
    for dir in "${libdirs[@]}"; do [[ -e $dir/$so ]] && { f=$dir/$so; break; }; done
    [[ -n $f ]] || die "no package contains library $so (for $1)"
    have[$so]=1
    install -D -m 755 "$(readlink -f "$f")" "$root/lib/x86_64-linux-gnu/$so"
    need "$f"
  done < <(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p')
}
for t in "${tools[@]}"; do
  f=$(find "$work/sys" -path "*bin/$t" -type f -print -quit)
  if [[ -z $f ]]; then
    f=$(find "$work/sys" -path "*bin/$t" -type l -print -quit)
    # An absolute link is meant within the package, not on this machine.
    if [[ -n $f && $(readlink "$f") == /* ]]; then f=$work/sys$(readlink "$f"); fi
  fi
  [[ -n $f ]] || { log "note: no $t in the packages, left out"; continue; }
  rm -f "$root/bin/$t"
  install -m 755 "$(readlink -f "$f")" "$root/bin/$t"
  need "$f"
done
# busybox's shell prefers its own ip, tc, ... to the programs in PATH.
ln -sf bash "$root/bin/sh"
# The dynamic loader, and the rxe provider, which libibverbs opens at run time.
install -D -m 755 "$(readlink -f "$work"/sys/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 2>/dev/null ||
  readlink -f "$work"/sys/usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2)" "$root/lib64/ld-linux-x86-64.so.2"
rxe_so=$(find "$work/sys" -name 'librxe-rdmav*.so' -print -quit)
[[ -n $rxe_so ]] || die "no rxe provider"
install -D -m 755 "$rxe_so" "$root/usr/lib/x86_64-linux-gnu/libibverbs/$(basename "$rxe_so")"
install -D -m 644 /dev/stdin "$root/etc/libibverbs.d/rxe.driver" <<<'driver rxe'
need "$rxe_so"
# pthread_exit() loads this one at run time (rping and friends).
gcc_so=$(find "$work/sys" -name 'libgcc_s.so.1' -print -quit)
[[ -z $gcc_so ]] || install -D -m 755 "$(readlink -f "$gcc_so")" "$root/lib/x86_64-linux-gnu/libgcc_s.so.1"

# Our own exerciser and agent.
agent_version=
if command -v "${CC:-cc}" >/dev/null; then
  vl=$(find "$work/sys" -name 'libibverbs.so.1' -print -quit)
  cl=$(find "$work/sys" -name 'librdmacm.so.1' -print -quit)
  for t in verbs_check cm_check; do
    "${CC:-cc}" -O2 -I "$work/sys/usr/include" -o "$root/bin/$t" "$here/guest/$t.c" \
      "$vl" "$cl" -Wl,--as-needed -Wl,-rpath-link,"$(dirname "$vl")" -Wl,--allow-shlib-undefined
    need "$root/bin/$t"
  done
  agent=("${CC:-cc}" -std=gnu11 -O2 -s -I "$sources" -o "$root/bin/railyard-agent" "$here/guest/agent.c")
  if ! "${agent[@]}" -static 2>/dev/null; then # no libc.a here
    "${agent[@]}"
    need "$root/bin/railyard-agent"
  fi
  agent_version=$(awk '$1 == "RY_AGENT_VERSION" {sub(",", "", $3); print $3}' "$frame_h")
else
  log "note: no C compiler, verbs_check, cm_check and railyard-agent left out"
fi

# ---- modules ----------------------------------------------------------------
moddir=$(find "$work/sys" -type d -path "*lib/modules/$krel" -print -quit)
find "$moddir" -name '*.ko*' -printf '%f %p\n' >"$work/modules.idx"
declare -A mdone=()
list=modules.load
add_module() { # NAME [optional]: into $list, dependencies first
  local name=$1 path dep n
  set -- "$1" "${2:-}"
  [[ -z ${mdone[$name]:-} ]] || return 0
  mdone[$name]=1
  path=$(awk -v n="${name//-/_}" '{m=$1; sub(/\.ko.*/,"",m); gsub(/-/,"_",m); if (m==n) {print $2; exit}}' "$work/modules.idx")
  if [[ -z $path ]]; then # not a module: built in, or missing?
    if grep -q "/${name//[-_]/[-_]}\.ko$" "$moddir/modules.builtin"; then return 0; fi
    if [[ $2 == optional ]]; then return 0; fi
    die "kernel $krel has no module $name"
  fi
  n=$root/modules/${name//-/_}.ko
  case $path in
    *.xz)  xz   -dc  "$path" >"$n" ;;
    *.zst) zstd -dcq "$path" >"$n" ;;
    *.gz)  gzip -dc  "$path" >"$n" ;;
    *)     cp "$path" "$n" ;;
  esac
  # .modinfo is a list of NUL-terminated key=value strings; depends=a,b,c is one of them.
  for dep in $(tr '\0' '\n' <"$n" | sed -n 's/^depends=//p' | head -n1 | tr ',' ' '); do add_module "$dep"; done
  printf '%s\n' "${name//-/_}" >>"$root/etc/$list"
}
for m in "${modules[@]}"; do
  if [[ $m == \?* ]]; then add_module "${m#\?}" optional; else add_module "$m"; fi
done
list=modules.agent
: >"$root/etc/$list"
for m in "${modules_agent[@]}"; do add_module "$m"; done

# ---- pack -------------------------------------------------------------------
( cd "$root" && find . -mindepth 1 | LC_ALL=C sort | "$bb" cpio -o -H newc -R 0:0 2>/dev/null ) >"$work/initrd.cpio"
{ printf 'kernel %s\n' "$krel"; printf 'modules %s\n' "$(tr '\n' ' ' <"$root/etc/modules.load")"; } >>"$work/manifest.txt"
rm -f "$cache/stamp" "$cache/agent-version"
[[ -z $agent_version ]] || printf '%s\n' "$agent_version" >"$work/agent-version"
mv "$work/vmlinux" "$work/initrd.cpio" "$work/manifest.txt" "$cache/"
[[ -z $agent_version ]] || mv "$work/agent-version" "$cache/"
printf '%s\n' "$stamp" >"$cache/stamp"
log "done: kernel $krel, initrd $(( $(stat -c %s "$cache/initrd.cpio") >> 20 )) MiB, in $cache"
