#!/usr/bin/env bash
# What programs on hosts with `attach: application`, and who starts them, are told when something is wrong: one line on standard
# error that says what to do, and the error that verbs or libfabric defines. (A port of rdma_cm that is taken: rdmacm.sh.)
#
# usage: tests/live/application_errors.sh
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
(( $# == 0 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2; }
name=errors spec=$here/rdmacm.yaml # h1, h2, h3: applications; h4 is built in
. "$here/applications.sh"
need "ibverbs-utils, libfabric-bin, jq, python3" ibv_devices fi_info jq python3 prlimit
libraries=$root/build/release/lib/railyard

program_is_built() { gcc -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -o "$work/errors" "$here/application_errors.c" -libverbs -lfabric; }
environment_is_read() { "$railyard" env h1 >"$work/env" && "$railyard" env h1 --preload >"$work/env-preload"; }
# COMMAND...: it fails, with one line that has $expected in it.
is_refused() {
  ! "$@" >"$work/out" 2>"$work/err" </dev/null || { echo "it did not fail"; return 1; }
  says
}
# The last command's line. (libfabric opens the device over libibverbs, too, which says the same.)
says() {
  cat "$work/err"
  say '%s' "$(head -n1 "$work/err" | cut -c 1-110)"
  (( $(wc -l <"$work/err") <= ${most:-1} && $(sort -u "$work/err" | wc -l) == 1 )) && grep -qF -- "$expected" "$work/err"
}
# With the environment of h1, but for what comes before `--`: NAME=VALUE...; the program says `$error`.
opens() { # over verbs|libfabric
  local over=$1; shift
  # shellcheck disable=SC1091
  ( . "$work/env"; export "$@" FI_PROVIDER=railyard; exec "$work/errors" "$over" ) >"$work/out" 2>"$work/err" </dev/null || return 1
  echo "ends with $(cat "$work/out"), expected $error"
  local most=1
  [[ $over != libfabric ]] || most=2
  [[ $(cat "$work/out") == "$error" ]] && says
}
# A tree of devices in which FILE has another content.
other_tree() { # FILE TEXT
  rm -rf "$work/tree"
  cp -r "$work/state/$lab/applications/h1" "$work/tree"
  if [[ -n $2 ]]; then echo "$2" >"$work/tree/class/infiniband/railyard0/railyard/$1"; else rm "$work/tree/class/infiniband/railyard0/railyard/$1"; fi
}

no_lab() { expected='no running lab' is_refused "$railyard" exec -l nowhere h1 -- true; }
unknown_host() { expected="h9" is_refused "$railyard" exec h9 -- true; }
host_is_built_in() { expected='expected a host with `attach: ' is_refused "$railyard" exec h4 -- true && expected='attach: application' is_refused "$railyard" env h4; }
unknown_nic() { # over verbs|libfabric
  other_tree host h9
  error=ENODEV expected='the lab has no NIC h9:1 with `attach: application`' opens "$1" SYSFS_PATH="$work/tree"
}
tree_is_no_labs() {
  other_tree socket ''
  error=ENODEV expected='expected one that `railyard up` has made' opens verbs SYSFS_PATH="$work/tree"
}
kernel_has_devices() {
  local hide='mount -t tmpfs none /sys/class && mkdir /sys/class/infiniband_verbs && exec "$@"'
  expected='--preload' is_refused unshare -m sh -c "$hide" sh "$railyard" exec h1 -- true || return 1
  unshare -m sh -c "$hide" sh "$railyard" exec --preload h1 -- ibv_devices | grep railyard0
}
program_is_setuid() {
  mkdir -p "$work/setuid"
  cp "$(command -v ibv_devices)" "$work/setuid/devices"
  chown nobody "$work/setuid/devices" && chmod 4755 "$work/setuid/devices" && chmod 755 "$work" "$work/setuid"
  "$railyard" exec h1 -- "$work/setuid/devices" >"$work/out" 2>"$work/err" </dev/null || true
  grep '^railyard' "$work/err" >"$work/ours" || true
  mv "$work/ours" "$work/err"
  expected='has rights of its own (setuid)' says
}
provider_is_elsewhere() {
  ( . "$work/env"; IBV_DRIVERS=/nowhere/librailyard RDMAV_DRIVERS=/nowhere/librailyard exec ibv_devices ) >"$work/out" 2>"$work/err"
  grep -v 'no userspace device-specific driver' "$work/err" >"$work/first" && mv "$work/first" "$work/err"
  expected="couldn't load driver '/nowhere/librailyard-rdmav34.so'" says
}
folder_has_no_provider() { ( . "$work/env"; export FI_PROVIDER_PATH=/nowhere; expected='fi_getinfo: -61' is_refused fi_info -p railyard ); }
# The linker refuses it for its version: it does not crash, and the line has the version.
other_private_abi() {
  mkdir -p "$work/abi"
  echo 'void verbs_register_driver_99(void) {}' >"$work/abi/abi.c"
  echo 'IBVERBS_PRIVATE_99 { global: verbs_register_driver_99; };' >"$work/abi/abi.map"
  gcc -shared -fPIC -Wl,-soname,libibverbs.so.1 -Wl,--version-script="$work/abi/abi.map" -o "$work/abi/libibverbs.so.1" "$work/abi/abi.c" || return 1
  expected=IBVERBS_PRIVATE_34 is_refused env LD_LIBRARY_PATH="$work/abi" python3 -c "
import ctypes, sys
try: ctypes.CDLL('$libraries/librailyard-rdmav34.so')
except OSError as error: sys.exit(str(error))"
}
# A second one, loaded by path, has no providers of its own.
two_libraries() {
  mkdir -p "$work/second"
  cp "$(ldconfig -p | awk '/libibverbs.so.1 .*x86-64/ { print $NF; exit }')" "$work/second/libibverbs.so.1" || return 1
  ( . "$work/env"; unset LD_PRELOAD; exec python3 - "$work/second/libibverbs.so.1" ) >"$work/out" 2>"$work/err" <<'P'
import ctypes, sys
for library in [ctypes.CDLL("libibverbs.so.1"), ctypes.CDLL(sys.argv[1])]:
    n = ctypes.c_int(0)
    library.ibv_get_device_list(ctypes.byref(n))
    print(n.value)
P
  [[ $(paste -sd' ' "$work/out") == '1 0' ]] && expected='this program has loaded 2 libibverbs; only ' says
}
no_memory_here() { error=ENOMEM expected="cannot map the lab's memory" opens verbs-without-memory; }
# One descriptor more than it has: enough for the connection, not for the rings.
no_memory_there() { # over verbs|libfabric
  local daemon free status=0
  daemon=$("$railyard" status --json | jq .pid)
  free=$(find "/proc/$daemon/fd" -mindepth 1 | wc -l)
  prlimit --pid "$daemon" --nofile="$(( free + 2 ))":
  error=ENOMEM expected='Too many open files' opens "$1" || status=$?
  prlimit --pid "$daemon" --nofile=1024:
  return "$status"
}
works_again() { error=opened; ( . "$work/env"; exec "$work/errors" verbs ) | grep -x opened && ( . "$work/env"; exec "$work/errors" libfabric ) | grep -x opened; }
# A daemon that answers as one of another version would, in its own words.
other_daemon() { # over verbs|libfabric
  other_tree socket "$work/other.sock"
  python3 - "$work/other.sock" <<'P' & local other=$!
import os, socket, sys
if os.path.exists(sys.argv[1]): os.unlink(sys.argv[1])
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind(sys.argv[1]); s.listen()
while True: c, _ = s.accept(); c.recv(4096); c.send(b"RYAP" + bytes(60))
P
  until_so test -S "$work/other.sock" || return 1
  local status=0
  error=EPROTO expected='the lab is of another version of Railyard' opens "$1" SYSFS_PATH="$work/tree" || status=$?
  kill "$other" 2>/dev/null || true
  rm -f "$work/other.sock"
  return "$status"
}
# A library of another version, and words that are none, to our daemon.
other_library() {
  python3 - "$work/state/$lab/applications.sock" >"$work/err" <<'P'
import errno, socket, struct, sys
def ask(message):
    c = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET); c.connect(sys.argv[1]); c.send(message)
    answer = c.recv(65536)
    error, = struct.unpack_from("<i", answer, 8)
    return errno.errorcode[error], answer[12:268].split(b"\0")[0].decode()
hello = struct.pack("<II64sII", 0x52594150, 2, b"h1", 1, 0)
first, text = ask(hello)
for message in hello[:-4], hello + b"more", b"x", bytes(80): assert ask(message)[0] == "EPROTO", message
print(first, text)
P
  expected='EPROTO this library is of another version of Railyard than the lab' says
}
virtual_clock() {
  expected='clock' is_refused "$railyard" up "$here/rdmacm.yaml" --name "$lab-virtual" --detach --set run.clock=virtual &&
    expected='clock' is_refused "$railyard" run "$here/rdmacm.yaml" --set run.clock=virtual
}
# Without rights, and with nothing in /dev/infiniband: the preloaded library stands in, and every octet is right.
ordinary_user() {
  gcc -O1 -D_GNU_SOURCE -o "$work/verbs_processes" "$here/verbs_processes.c" -libverbs -lpthread || return 1
  chmod 755 "$work"
  chmod -R a+rX "$work/state"
  chmod a+rw "$work/state/$lab/applications.sock"
  # shellcheck disable=SC2016  # of the inner shells
  unshare -m sh -c 'mount -t tmpfs none /dev/infiniband && exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$@"' sh \
    sh -c 'test ! -e /dev/infiniband/railyard0 && . "$0/env-preload" && ibv_devinfo && exec "$0/verbs_processes" fork' "$work" \
    >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
  cat "$work/out"
  say '%s' "$(tail -n1 "$work/out")"
  grep -q 'hca_id:.*railyard0' "$work/out" && grep -q PORT_ACTIVE "$work/out"
}
lab_is_killed() {
  kill -KILL "$("$railyard" status --json | jq .pid)"
  until_so stopped || return 1
  error=ENODEV expected='no lab answers at' opens verbs && error=ENODEV expected='no lab answers at' opens libfabric
}
stopped() { ! "$railyard" status >/dev/null 2>&1; }

check "up: three hosts of applications, one that is built in" lab_comes_up
check "a program" program_is_built
check "environment of h1" environment_is_read
check "no lab" no_lab
check "a host that there is not" unknown_host
check "a host that is built in" host_is_built_in
check "verbs: a NIC that there is not" unknown_nic verbs
check "libfabric: a NIC that there is not" unknown_nic libfabric
check "a tree of devices that is no lab's" tree_is_no_labs
check "the kernel has RDMA devices" kernel_has_devices
check "a setuid program" program_is_setuid
check "the verbs provider is not where it should be" provider_is_elsewhere
check "nor is that of libfabric" folder_has_no_provider
check "libibverbs with another private ABI" other_private_abi
check "two libibverbs" two_libraries
check "no memory for rings in the program" no_memory_here
check "verbs: no descriptors for rings in the daemon" no_memory_there verbs
check "libfabric: no descriptors for rings in the daemon" no_memory_there libfabric
check "and then it works" works_again
check "verbs: a daemon of another version" other_daemon verbs
check "libfabric: a daemon of another version" other_daemon libfabric
check "a library of another version" other_library
check "the virtual clock" virtual_clock
check "an ordinary user without /dev/infiniband" ordinary_user
check "a lab that was killed" lab_is_killed
check "down leaves nothing" down_leaves_nothing
exit "$failed"
