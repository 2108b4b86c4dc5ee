#!/usr/bin/env bash
# run-vm.sh - boot one SoftRoCE guest (software emulation; KVM on request), run a script
# inside it, print what it prints, and exit with its exit status.
#
# usage: run-vm.sh --netdev SPEC [--netdev SPEC ...] --script FILE [options] [-- extra qemu arguments]
#
#   --netdev SPEC   one NIC. SPEC is a QEMU -netdev value without "id=", e.g.
#                     socket,listen=127.0.0.1:7001      socket,connect=127.0.0.1:7001
#                     dgram,local.type=inet,local.host=127.0.0.1,local.port=7001,remote.type=inet,remote.host=127.0.0.1,remote.port=7002
#                     tap,ifname=tap0,script=no,downscript=no[,vhost=off]
#                   or, for a DPDK switch, a vhost-user socket:
#                     vhost-user,path=/run/x/port0.sock[,server=on][,queues=1]
#   --script FILE   shell script to run in the guest ("-": standard input)
#   --ip LIST       comma separated address/len, one per NIC, "-" for none   (default none: no rxe device)
#   --mac LIST      comma separated MACs, one per NIC                        (default 52:54:00:00:<seed>:<n>)
#   --seed N        0-255, used for the default MACs                         (default 1)
#   --mtu N         MTU of the NICs                                          (default 1500)
#   --env NAME=VAL  environment of the guest script (repeatable)
#   --file FILE     put FILE into the guest as /run/lab/<basename> (repeatable)
#   --devopts OPTS  more virtio-net-pci properties, e.g. mrg_rxbuf=off,csum=off
#   --pcap FILE     dump the first NIC's frames to FILE (works with every backend but vhost-user)
#   --mem MB        guest memory   (default 256)
#   --smp N         guest CPUs     (default 1)
#   --timeout S     kill the guest after S seconds (default 120)
#   --log FILE      also keep the raw console
#   --pidfile FILE  where QEMU writes its pid
#
# The image comes from build-image.sh; RAILYARD_SOFTROCE_CACHE says where it is.
# exit: the guest script's status; 124 timeout; 125 the guest never reached the script or crashed.
set -euo pipefail

cache=${RAILYARD_SOFTROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/railyard/softroce}
qemu=${RAILYARD_SOFTROCE_QEMU:-qemu-system-x86_64}
die() { printf 'run-vm: %s\n' "$*" >&2; exit 125; }

netdevs=() envs=() files=() extra=()
script='' ip='' mac='' seed=1 mtu=1500 devopts='' pcap='' mem=256 smp=1 limit=120 log='' pidfile=''
while (( $# )); do
  case $1 in
    --netdev) netdevs+=("$2"); shift 2 ;;
    --script) script=$2; shift 2 ;;
    --ip) ip=$2; shift 2 ;;
    --mac) mac=$2; shift 2 ;;
    --seed) seed=$2; shift 2 ;;
    --mtu) mtu=$2; shift 2 ;;
    --env) envs+=("$2"); shift 2 ;;
    --file) files+=("$2"); shift 2 ;;
    --devopts) devopts=,$2; shift 2 ;;
    --pcap) pcap=$2; shift 2 ;;
    --mem) mem=$2; shift 2 ;;
    --smp) smp=$2; shift 2 ;;
    --timeout) limit=$2; shift 2 ;;
    --log) log=$2; shift 2 ;;
    --pidfile) pidfile=$2; shift 2 ;;
    --) shift; extra=("$@"); break ;;
    -h|--help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) die "unknown argument: $1" ;;
  esac
done
[[ -n $script ]] || die "--script is required"
[[ -f $cache/vmlinux && -f $cache/initrd.cpio ]] || die "no image in $cache; run build-image.sh"
command -v "$qemu" >/dev/null || die "no $qemu (Debian: qemu-system-x86)"

work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-softroce-vm.XXXXXX")
qpid='' fpid=''
# shellcheck disable=SC2317  # called by the trap
cleanup() {
  trap - EXIT INT TERM
  [[ -z $qpid ]] || kill "$qpid" 2>/dev/null || true   # "timeout" hands the signal on to QEMU
  [[ -z $qpid ]] || wait "$qpid" 2>/dev/null || true
  [[ -z $fpid ]] || wait "$fpid" 2>/dev/null || true
  rm -rf -- "$work"
}
trap cleanup EXIT
trap 'exit 143' INT TERM

# Second initramfs: the command script and the caller's files. The kernel unpacks
# concatenated archives one after the other. cpio "newc" is written by hand, so
# that the host needs no cpio.
newc() { # NAME MODE [FILE]
  local name=$1 mode=$2 size=0
  [[ -z ${3:-} ]] || size=$(stat -Lc %s "$3")
  printf '070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x' \
    $((++ino)) $((8#$mode)) 0 0 1 0 "$size" 0 0 0 0 $((${#name} + 1)) 0
  printf '%s\0' "$name"
  pad $((110 + ${#name} + 1))
  if (( size )); then cat "$3"; pad "$size"; fi
}
pad() { local n=$(( (4 - $1 % 4) % 4 )); (( n == 0 )) || head -c "$n" /dev/zero; }
ino=700000
if [[ $script == - ]]; then cat >"$work/user.sh"; else cp "$script" "$work/user.sh"; fi
{
  for e in ${envs[@]+"${envs[@]}"}; do printf 'export %s=%q\n' "${e%%=*}" "${e#*=}"; done
  printf '. /lib/lab.sh\n'
  cat "$work/user.sh"
} >"$work/cmd.sh"
{
  cat "$cache/initrd.cpio"
  newc run 040755; newc run/lab 040755
  newc run/lab/cmd.sh 100644 "$work/cmd.sh"
  for f in ${files[@]+"${files[@]}"}; do newc "run/lab/${f##*/}" 100755 "$f"; done
  newc 'TRAILER!!!' 0
} >"$work/initrd"

# Software emulation unless asked otherwise: a boot costs 3 s of CPU, and nested KVM is not to be trusted (QEMU 7.2 dies
# on some hosts' MSRs). RAILYARD_SOFTROCE_ACCEL=kvm is several times as fast on a machine of one's own.
accel=${RAILYARD_SOFTROCE_ACCEL:-tcg}
cpu=max
[[ $accel != kvm ]] || cpu=host
args=(-machine pc -cpu "${RAILYARD_SOFTROCE_CPU:-$cpu}" -accel "$accel" -smp "$smp" -m "$mem"
  -nodefaults -no-user-config -display none -no-reboot -serial stdio
  -kernel "$cache/vmlinux" -initrd "$work/initrd")
[[ -z $pidfile ]] || args+=(-pidfile "$pidfile")
shared=
IFS=, read -ra macs <<<"$mac"
n=0
for spec in ${netdevs[@]+"${netdevs[@]}"}; do
  m=${macs[n]:-$(printf '52:54:00:00:%02x:%02x' "$seed" "$n")}
  dev=virtio-net-pci,netdev=net$n,mac=$m,romfile=$devopts
  if [[ $spec == vhost-user,* ]]; then
    # path= and server= belong to the socket, the rest to the netdev
    sock=socket,id=chr$n rest=vhost-user,id=net$n,chardev=chr$n
    IFS=, read -ra parts <<<"${spec#vhost-user,}"
    for p in "${parts[@]}"; do
      case $p in path=*|reconnect=*) sock+=,$p ;; server=on) sock+=,server=on,wait=off ;; *) rest+=,$p ;; esac
    done
    # vectors=0: without KVM, QEMU 7.2 crashes in virtio_pci's MSI-X notifier code as
    # soon as the guest driver starts a vhost-user device; plain INTx works.
    # Queue sizes: rxe sends up to 128 packets in one go; with jumbo frames, three
    # buffers each, they overrun the default ring of 256.
    args+=(-chardev "$sock" -netdev "$rest"
      -device "virtio-net-pci,netdev=net$n,mac=$m,romfile=,vectors=0,rx_queue_size=1024,tx_queue_size=1024$devopts")
    shared=1
  else
    args+=(-netdev "$spec,id=net$n" -device "$dev")
  fi
  n=$((n + 1))
done
# A vhost-user switch maps the guest's memory, so it has to be a shared file.
[[ -z $shared ]] || args+=(-object "memory-backend-memfd,id=mem,size=${mem}M,share=on" -numa "node,memdev=mem")
[[ -z $pcap ]] || args+=(-object "filter-dump,id=dump0,netdev=net0,file=$pcap,maxlen=65535")

cmdline="console=ttyS0 quiet panic=-1 mitigations=off nokaslr no_timer_check audit=0 apparmor=0 cryptomgr.notests random.trust_cpu=on"
cmdline+=" LAB_MTU=$mtu"
[[ -z $ip ]] || cmdline+=" LAB_IP=$ip"

mkfifo "$work/tty"
# Pass on what lies between the begin and end marks, as it comes; keep the status.
# (Not awk: mawk, Debian's default, holds input back.)
filter() {
  local line on=''
  [[ -z $log ]] || : >"$log"
  while IFS= read -r line || [[ -n $line ]]; do
    line=${line%$'\r'}
    [[ -z $log ]] || printf '%s\n' "$line" >>"$log"
    if [[ -n $on && $line =~ @@lab:\ end\ rc=([0-9]+) ]]; then
      printf '%s\n' "${BASH_REMATCH[1]}" >"$work/status"; on=''
      line=${line%%@@lab: end*}
      [[ -z $line ]] || printf '%s\n' "$line"   # output that did not end in a newline
    elif [[ $line == *'@@lab: begin'* ]]; then
      on=1
    elif [[ $line == *'@@lab: '* || $line == *'Kernel panic'* ]]; then
      printf 'run-vm: %s\n' "$line" >&2
    elif [[ -n $on ]]; then
      printf '%s\n' "$line"
    fi
  done
}
filter <"$work/tty" &
fpid=$!
timeout -k 5 "$limit" "$qemu" "${args[@]}" -append "$cmdline" ${extra[@]+"${extra[@]}"} \
  </dev/null >"$work/tty" 2>"$work/err" &
qpid=$!
qrc=0
wait "$qpid" || qrc=$?
qpid=
wait "$fpid" || true
fpid=
if [[ -s $work/status ]]; then exit "$(<"$work/status")"; fi
[[ ! -s $work/err ]] || sed 's/^/run-vm: /' "$work/err" >&2
(( qrc != 124 && qrc != 137 )) || { printf 'run-vm: timeout after %s s\n' "$limit" >&2; exit 124; }
die "the guest did not finish its script (qemu status $qrc)"
