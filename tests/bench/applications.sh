# shellcheck shell=bash
# Unmodified RDMA programs through a live lab, and what their users would take instead: for run.sh, which sources this file
# ($here, $root, $railyard, $runs, $work, row). Needs root. All programs run on this machine; alternatives use its loopback
# or shared memory.
#
# Each figure is of its own pair of processes: the load of a machine with few processors is part of it.
app_lab=bench-$$
on_host() { timeout 120 "$railyard" exec "$1" -- "${@:2}" </dev/null; }
bare() { timeout 120 "${@:2}" </dev/null; }
app_port=$(( 21000 + $$ % 20000 ))
# app_pair HOW CLIENT SERVER PROGRAM...: HOW is on_host or bare; $option is the program's option for its port. The client's
# output.
app_pair() {
  local how=$1 client=$2 server=$3 i; shift 3
  app_port=$(( app_port + 1 ))
  "$how" "$server" "$@" "${server_option:-$option}" "$app_port" >"$work/server" 2>&1 & local pid=$!
  for (( i = 0; i < 200; ++i )); do ss -ltnH "sport = :$app_port" | grep -q . && break; sleep 0.05; done
  "$how" "$client" "$@" "$option" "$app_port" 127.0.0.1 2>"$work/client.errors"
  wait "$pid" || true
}
# several FILTER HOW PROGRAM...: $runs figures, each what FILTER (awk) prints of the client's output, into $work/figures
several() {
  local filter=$1 how=$2 i; shift 2
  for (( i = 0; i < runs; ++i )); do app_pair "$how" "$client" "$server" "$@" | awk "$filter"; done >"$work/figures"
  cp "$work/figures" "$work/figures.${label:-last}"
}
# ratio TEXT A B: medians of two labels, A / B
ratio() { awk -v a="$(median <"$work/figures.$2")" -v b="$(median <"$work/figures.$3")" 'BEGIN { if (b > 0) print a / b }' >"$work/figures"; row "$1" x -; }
perftest_bw='$1 ~ /^[0-9]+$/ { v = $4 } END { print v }'
perftest_rate='$1 ~ /^[0-9]+$/ { v = $5 } END { print v }'
perftest_p50='$1 ~ /^[0-9]+$/ { v = $5 } END { print v }'
# The last line of ucx_perftest -f: iterations, 50th percentile us, average us, overall us, average MB/s, ...
ucx_us='NF >= 8 { v = $4 } END { print v }'
ucx_gbps='NF >= 8 { v = $6 * 8 * 1.048576 / 1000 } END { print v }'
# fi_pingpong: bytes, sent, acknowledged, total, time, MB/s, us/transfer, ...
fi_us='$1 ~ /^[0-9.]+[kmg]?$/ { v = $(NF - 1) } END { print v }'
fi_gbps='$1 ~ /^[0-9.]+[kmg]?$/ { v = $(NF - 2) * 8 / 1000 } END { print v }'

app_up() { # FILE [OPTION...]
  "$railyard" up "$1" --name "$app_lab" --detach "${@:2}" >/dev/null
  export RAILYARD_LAB=$app_lab
}
app_down() { "$railyard" down "$app_lab" >/dev/null; unset RAILYARD_LAB; }

verbs_rows() { # TEXT
  option=-p
  local ib=(-d railyard0 -F -u 19)
  label="write.$1" several "$perftest_bw" on_host ib_write_bw "${ib[@]}" --report_gbits -s 65536 -n 5000; row "  ib_write_bw 64 KiB, $1" Gb/s '>= 20'
  several "$perftest_rate" on_host ib_write_bw "${ib[@]}" --report_gbits -s 64 -n 100000; row "  ib_write_bw 64 B, $1" 'M messages/s' -
  several "$perftest_rate" on_host ib_write_bw "${ib[@]}" --report_gbits -s 64 -n 200000 -t 512 -Q 64; row "  ib_write_bw 64 B, 512 at a time, $1" 'M messages/s' '>= 0.5'
  latency_row "$1" -
}
latency_row() { # TEXT BAR
  option=-p
  label="lat.$1" several "$perftest_p50" on_host ib_send_lat -d railyard0 -F -u 19 -s 2 -n 5000; row "  ib_send_lat 2 B, $1" 'us, p50' "$2"
}
# The fabric has a processor of its own, the last one, as docs/applications.md advises for short messages.
bound_rows() {
  app_up "$root/topologies/labs/applications.yaml" --set "run.cores=[$(( $(nproc --all) - 1 ))]"
  server=h2 latency_row 'one switch, run.cores' '<= 12'
  server=h3 latency_row 'leaf-spine-leaf, run.cores' '<= 12'
  app_down
}
# Two guests with the kernel's SoftRoCE through a switch of a lab of their own; emulated processors without KVM.
softroce_rows() {
  local cache=${RAILYARD_SOFTROCE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/railyard/softroce} i
  command -v qemu-system-x86_64 >/dev/null && [[ -f $cache/initrd.cpio ]] ||
    { printf '  SoftRoCE in two guests: left out, no QEMU or no image (tools/softroce/build-image.sh)\n'; return 0; }
  "$railyard" up "$root/topologies/labs/softroce-pair.yaml" --name "$app_lab-guests" --detach >/dev/null
  guest() { RAILYARD_LAB=$app_lab-guests timeout 120 "$railyard" exec "$1" ib_write_bw -d rxe1 --tclass=106 --report_gbits -s 65536 -n 200 "${@:2}" </dev/null; }
  for (( i = 0; i < runs; ++i )); do
    guest h2 >/dev/null 2>&1 & local pid=$!
    local tries
    for (( tries = 0; tries < 20; ++tries )); do guest h1 h2 2>/dev/null | awk "$perftest_bw" >"$work/one" || true; [[ -s $work/one ]] && break; sleep 0.5; done
    wait "$pid" || true
    cat "$work/one"
  done >"$work/figures"
  "$railyard" down "$app_lab-guests" >/dev/null
  row "  SoftRoCE in two guests$([[ -e /dev/kvm ]] || echo ' (emulated processors)'), ib_write_bw 64 KiB" Gb/s -
}
ucx_rows() {
  option=-p
  local what
  for what in rc_v posix tcp; do
    local how=bare
    [[ $what != rc_v ]] || how=on_host
    export UCX_TLS=$what,self
    case $what in rc_v) export UCX_NET_DEVICES=railyard0:1 ;; tcp) export UCX_NET_DEVICES=lo ;; *) unset UCX_NET_DEVICES ;; esac
    label="ucx-us.$what" several "$ucx_us" "$how" ucx_perftest -f -t tag_lat -s 8 -n 20000; row "  ucx_perftest tag_lat 8 B, $what" us -
    label="ucx-bw.$what" several "$ucx_gbps" "$how" ucx_perftest -f -t tag_bw -s 65536 -n 10000; row "  ucx_perftest tag_bw 64 KiB, $what" Gb/s -
  done
  unset UCX_TLS UCX_NET_DEVICES
  ratio '  latency: our verbs against tcp' ucx-us.rc_v ucx-us.tcp
  ratio '  bandwidth: our verbs against tcp' ucx-bw.rc_v ucx-bw.tcp
}
fi_rows() {
  option=-P server_option=-B
  local provider
  for provider in railyard tcp 'udp;ofi_rxd'; do
    local how=bare endpoint=rdm name=${provider//;/-}
    [[ $provider != railyard ]] || how=on_host
    [[ $provider != tcp ]] || endpoint=msg  # Debian's tcp has no reliable datagrams of its own
    label="fi-us.$name" several "$fi_us" "$how" fi_pingpong -p "$provider" -e "$endpoint" -S 8 -I 5000; row "  fi_pingpong 8 B, $provider" us -
    label="fi-bw.$name" several "$fi_gbps" "$how" fi_pingpong -p "$provider" -e "$endpoint" -S 65536 -I 2000; row "  fi_pingpong 64 KiB, $provider" Gb/s -
  done
  unset server_option
  ratio '  latency: our UET against tcp' fi-us.railyard fi-us.tcp
  ratio "  latency: our UET against udp;ofi_rxd" fi-us.railyard fi-us.udp-ofi_rxd
}
mpi_rows() {
  mpicc -O2 -o "$work/mpi" "$root/tests/live/libfabric_mpi.c"
  local common=(mpirun --allow-run-as-root --oversubscribe --bind-to none) ours=(-np 1 "$railyard" exec h1 -- "$work/mpi" 8388608 :
    -np 1 "$railyard" exec h3 -- "$work/mpi" 8388608) i what
  local -A layer=(
    [verbs]='--mca pml ucx --mca pml_ucx_tls any --mca pml_ucx_devices any --mca btl ^openib'
    [uet]='--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include railyard --mca btl self,vader'
    [tcp]='--mca pml ob1 --mca btl tcp,self --mca btl_tcp_if_include lo')
  for what in verbs uet tcp; do
    local programs=("${ours[@]}")
    [[ $what != tcp ]] || programs=(-np 2 "$work/mpi" 8388608)
    for (( i = 0; i < runs; ++i )); do
      # shellcheck disable=SC2086  # words
      UCX_TLS=rc_v,ud_v,self UCX_NET_DEVICES=railyard0:1 timeout 120 "${common[@]}" ${layer[$what]} "${programs[@]}" </dev/null 2>/dev/null
    done | sed -n 's/.*8 octets \([0-9.]*\) us, all-reduce of 8 MiB \([0-9.]*\) ms/\1 \2/p' >"$work/mpi.$what"
    cut -d' ' -f1 "$work/mpi.$what" | tee "$work/figures.mpi-us.$what" >"$work/figures"; row "  MPI 8 B over $what" us -
    cut -d' ' -f2 "$work/mpi.$what" | tee "$work/figures.mpi-ms.$what" >"$work/figures"; row "  MPI all-reduce 8 MiB over $what" ms -
  done
  for what in verbs uet; do
    ratio "  latency: $what against tcp" "mpi-us.$what" mpi-us.tcp
    ratio "  all-reduce: $what against tcp" "mpi-ms.$what" mpi-ms.tcp
  done
}

applications_bench() {
  if (( EUID != 0 )) || [[ -e /sys/class/infiniband_verbs ]]; then
    printf '\nRDMA programs: left out, they need root and a kernel without RDMA devices\n'
    return
  fi
  client=h1 server=h2
  printf '\nUnmodified RDMA programs, two processes, through one switch and through leaf-spine-leaf\n'
  app_up "$root/topologies/labs/applications.yaml"
  verbs_rows 'one switch'
  server=h3
  verbs_rows leaf-spine-leaf
  softroce_rows
  printf '\nUCX: verbs through leaf-spine-leaf, shared memory, TCP over the loopback\n'
  ucx_rows
  printf '\nlibfabric: Ultra Ethernet through leaf-spine-leaf, TCP and UDP over the loopback\n'
  fi_rows
  printf '\nOpen MPI, two ranks: through leaf-spine-leaf, and TCP over the loopback\n'
  mpi_rows
  app_down
  printf '\nThe same with a processor for the fabric\n'
  bound_rows
}
