#!/usr/bin/env bash
# The libraries for applications (verbs, rdma_cm, libfabric) under AddressSanitizer and UBSan, and under ThreadSanitizer, in
# programs on hosts of a live lab that are built in the same way: threads that share QPs, CQs and endpoints, fork, exec,
# limits, peers that are killed. Whatever a sanitizer finds fails the test. Then programs of Debian as they are, with the
# libraries under AddressSanitizer, whose runtime is preloaded.
#
# usage: tests/live/application_sanitizers.sh [asan | tsan]
#   asan, tsan   only this one    (default: both)
# Needs root, clang-19, and the release build (build/release). It builds the libraries in build/asan and build/tsan.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
case "$#:${1:-}" in
  0:) sanitizers=(asan tsan) ;;
  1:asan|1:tsan) sanitizers=("$1") ;;
  *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;;
esac
name=sanitizers
. "$here/applications.sh"
. "$root/tools/common.sh"
need "clang-19" clang-19
need "perftest, libfabric-bin, jq" ib_write_bw fi_pingpong jq

# Programs are some times slower than usual.
patience=400
lab_with_patience() {
  "$railyard" up "$root/topologies/labs/applications.yaml" --name "$lab" --detach --set hosts.default.uet.rto=500ms || return 1
  for host in h1 h3; do "$railyard" env "$host" >"$work/env-$host" || return 1; done
}
libraries_are_built() { # SANITIZER
  configure "$1" -DRAILYARD_BENCH=OFF -DRAILYARD_TESTS=OFF && build "$1" railyard_rdmav34 railyard_fi railyard_rdmacm_preload
}
programs_are_built() { # SANITIZER
  local p flags=(-O1 -g -fno-omit-frame-pointer -Wall -Wextra -Werror -D_GNU_SOURCE -fno-sanitize-recover=all)
  case $1 in asan) flags+=(-fsanitize=address,undefined -fsanitize-link-c++-runtime) ;; tsan) flags+=(-fsanitize=thread) ;; esac
  mkdir -p "$work/$1"
  for p in verbs_processes:-libverbs verbs_check:-libverbs libfabric_processes:-lfabric kills/verbs:-libverbs \
           kills/libfabric:-lfabric 'kills/rdmacm:-lrdmacm -libverbs'; do
    # shellcheck disable=SC2086  # words
    clang-19 "${flags[@]}" -o "$work/$1/$(tr / _ <<<"${p%%:*}")" "$here/${p%%:*}.c" ${p#*:} -lpthread -lstdc++ || return 1
  done
}

# What the sanitizers are told. What they find is in files of their own; a program ends as it would without. A child of a
# fork goes on with threads.
common=exitcode=0:log_path=$work/report:allow_addr2line=1
export ASAN_OPTIONS=$common:abort_on_error=0:detect_stack_use_after_return=1
export UBSAN_OPTIONS=$common:print_stacktrace=1
export TSAN_OPTIONS=$common:die_after_fork=0:suppressions=$root/tests/tsan.supp
# Leaks are looked for where a program gives back all that it has. After fork(2) the sanitizer cannot.
leaks=0
# Nothing was found since it was asked last; else the findings are shown. Of leaks, those of this project's libraries count:
# libibverbs has its own.
nothing_found() {
  local found
  found=$(cat "$work"/report.* 2>/dev/null | awk '
    /ERROR: LeakSanitizer/ { next }
    /^(Direct|Indirect) leak/ { leak = $0; ours = 0; next }
    leak { leak = leak "\n" $0; if (/^ *#1 .*librailyard/) ours = 1 }
    leak && /^ *$/ { if (ours) print leak; leak = ""; next }
    leak || /^SUMMARY: .* leaked/ || /WARNING: .* symbolizer/ || /^=+$/ || /^ *$/ { next }
    { print }')
  rm -f "$work"/report.*
  [[ -z $found ]] || { echo "$found" | head -n 60; return 1; }
}

# SANITIZER HOST COMMAND...: the command on that host, with the libraries of that build. $runtime: preloaded before them.
runtime=
under() {
  local lib=$root/build/$1/lib/railyard host=$2; shift 2
  (
    # shellcheck disable=SC1090
    . "$work/env-$host"
    unset LD_PRELOAD # of the other build; it is said again for the command alone
    exec timeout "$patience" env IBV_DRIVERS="$lib/librailyard" RDMAV_DRIVERS="$lib/librailyard" FI_PROVIDER_PATH="$lib" \
      FI_PROVIDER=railyard LD_PRELOAD="${runtime:+$runtime:}$lib/librailyard-rdmacm.so" ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=$leaks" "$@"
  ) </dev/null
}
does() { # SANITIZER PROGRAM ARGUMENT...
  under "$1" h1 "$work/$1/$2" "${@:3}" >"$work/out" 2>&1 || { nothing_found || true; tail -n 60 "$work/out"; return 1; }
  say '%s' "$(tail -n1 "$work/out")"
  nothing_found
}
# Two of them, of which one is killed while both send; the other one ends as ever (tests/live/kills/meet.h).
one_is_killed() { # SANITIZER PROGRAM ARGUMENT...
  local sanitizer=$1 program=$work/$1/kills_$2 socket=$work/socket-$2 i status; shift 2
  rm -f "$socket" "$socket.on"
  under "$sanitizer" h3 "$program" listens "$socket" "$@" >"$work/server" 2>&1 & local listener=$!
  under "$sanitizer" h1 "$program" connects "$socket" "$@" >"$work/out" 2>&1 & local connector=$!
  until_so test -e "$socket.on" || { kill "$listener" "$connector"; return 1; }
  sleep 1
  pkill -KILL -f "^$program listens" || return 1
  wait "$listener" || true
  status=0; wait "$connector" || status=$?
  say '%s' "$(tail -n1 "$work/out")"
  (( status == 3 )) || { echo "exit code $status"; nothing_found || true; tail -n 60 "$work/out"; return 1; }
  nothing_found
}
verbs_there_and_back() { # SANITIZER
  port=$(( port + 1 ))
  under "$1" h3 "$work/$1/verbs_check" server "$port" >"$work/server" 2>&1 & local server=$!
  until_so listens || return 1
  under "$1" h1 "$work/$1/verbs_check" client "$port" >"$work/out" 2>&1 || { tail -n 60 "$work/out"; kill "$server"; return 1; }
  wait "$server" && say '%s' "$(tail -n1 "$work/out")" && nothing_found
}
address_of() { awk -v name="$1" '$2 == name { print $1; exit }' "$work/state/$lab/applications/h1/hosts"; }
# SERVER'S OPTIONS are the client's, which is given an address as well.
as_debian_has_it() { # COMMAND...
  runtime=$(clang-19 -print-file-name=libclang_rt.asan-x86_64.so)
  [[ -e $runtime ]] || runtime=$(clang-19 -print-file-name=libclang_rt.asan.so)
  local option=-p status=0 server
  [[ $1 != fi_pingpong ]] || option=-B
  port=$(( port + 1 ))
  under asan h3 "$@" "$option" "$port" >"$work/server" 2>&1 & server=$!
  if until_so listens; then
    [[ $1 != fi_pingpong ]] || option=-P
    under asan h1 "$@" "$option" "$port" 127.0.0.1 >"$work/out" 2>&1 || status=$?
    wait "$server" || status=$?
  else
    status=1
  fi
  runtime=
  (( status == 0 )) || { nothing_found || true; tail -n 60 "$work/out"; return 1; }
  nothing_found || return 1
  say '%s' "$(grep -E '^ *[0-9]' "$work/out" | tail -n1)"
}

check "up: four hosts of applications" lab_with_patience
for s in "${sanitizers[@]}"; do
  check "$s: libraries" libraries_are_built "$s"
  check "$s: programs" programs_are_built "$s"
  (( failed == 0 )) || exit "$failed"
  # Memory that a peer writes by RDMA: that the program looks at it later, ThreadSanitizer cannot know.
  [[ $s == tsan ]] || leaks=1 check "$s: verbs: there and back" verbs_there_and_back "$s"
  check "$s: verbs: fork" does "$s" verbs_processes fork
  check "$s: verbs: exec" does "$s" verbs_processes exec
  leaks=1 check "$s: verbs: threads" does "$s" verbs_processes threads
  check "$s: libfabric: fork" does "$s" libfabric_processes fork
  leaks=1 check "$s: libfabric: threads" does "$s" libfabric_processes threads
  if [[ $s == asan ]]; then
    leaks=1 check "$s: verbs: limits" does "$s" verbs_processes limits
    leaks=1 check "$s: libfabric: limits" does "$s" libfabric_processes limits
  fi
  check "$s: verbs: the peer is killed" one_is_killed "$s" verbs polls
  check "$s: verbs: the peer is killed, this end sleeps" one_is_killed "$s" verbs sleeps
  check "$s: libfabric: the peer is killed" one_is_killed "$s" libfabric polls
  check "$s: libfabric: the peer is killed, this end sleeps" one_is_killed "$s" libfabric sleeps
  check "$s: rdma_cm: the peer is killed" one_is_killed "$s" rdmacm "$(address_of h3)" 7003
  if [[ $s == asan ]]; then
    check "$s: Debian's ib_write_bw" as_debian_has_it ib_write_bw -d railyard0 -F -n 2000 -q 2
    check "$s: Debian's ib_send_bw -R" as_debian_has_it ib_send_bw -d railyard0 -F -n 1000
    check "$s: Debian's fi_pingpong" as_debian_has_it fi_pingpong -p railyard -e rdm -m tagged -c -I 100
  fi
done
check "all was given back" until_so none_is_open
check "down leaves nothing" down_leaves_nothing
exit "$failed"
