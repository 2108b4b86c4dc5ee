#!/usr/bin/env bash
# Processes and threads that share one NIC of a host with `attach: application`: fork before and after the device is opened,
# exec, many threads on one context, 100 processes at once, and what is refused at each limit, with the error that verbs or
# libfabric defines. All compare every octet.
#
# usage: tests/live/application_processes.sh
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
(( $# == 0 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2; }
name=processes
. "$here/applications.sh"
need "jq" jq

lab_with_patience() { # a hundred processes wait for long for a processor
  "$railyard" up "$root/topologies/labs/applications.yaml" --name "$lab" --detach --set hosts.default.uet.rto=500ms || return 1
}
programs_are_built() {
  gcc -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -o "$work/verbs_processes" "$here/verbs_processes.c" -libverbs -lpthread &&
    gcc -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -o "$work/libfabric_processes" "$here/libfabric_processes.c" -lfabric -lpthread
}
# PROGRAM ARGUMENT...
does() { on h1 "$work/$1" "${@:2}" >"$work/out" || return 1; say '%s' "$(tail -n1 "$work/out")"; }
# A child that has inherited all of it does not keep the NIC from those who come next: the lab sees the parent end.
a_child_keeps_nothing() {
  local child
  child=$(on h1 "$work/verbs_processes" leave-child 2>/dev/null || true)
  kill -0 "$child" || { echo "no child"; return 1; }
  until_so none_is_open || { kill -KILL "$child"; return 1; }
  kill -KILL "$child"
}

check "up: four hosts of applications" lab_with_patience
check "programs" programs_are_built
check "verbs: fork" does verbs_processes fork
check "verbs: exec" does verbs_processes exec
check "verbs: a child that lives on keeps nothing" a_child_keeps_nothing
check "verbs: threads" does verbs_processes threads
check "verbs: limits and their errno" does verbs_processes limits
check "verbs: 100 processes at once" does verbs_processes many 100
check "libfabric: fork" does libfabric_processes fork
check "libfabric: threads" does libfabric_processes threads
check "libfabric: limits and their errors" does libfabric_processes limits
check "libfabric: 100 processes at once" does libfabric_processes many 100
check "nothing was dropped" lossless
check "all was given back" until_so none_is_open
check "down leaves nothing" down_leaves_nothing
exit "$failed"
