#!/usr/bin/env bash
# Would the swarm notice? Builds railyard with bugs on purpose (dataplane/base/planted_bug.h), and wants each of them to
# be found within 200 seeds, and none where there is none.
#
# usage: tests/swarm/run.sh [BUG...]      (all, or those named)
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/common.sh"

seeds=200
# What most of it is compiled to does not depend on the bugs: ccache has it from the other builds.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1
configure planted
build planted railyard
railyard=$root/build/planted/bin/railyard

bugs=("$@")
if (( ${#bugs[@]} == 0 )); then
  mapfile -t bugs < <(sed -n '/kPlantedBugNames = /,/};/p' "$root/dataplane/base/planted_bug.h" | grep -o '"[^"]*"' | tr -d '"' | grep -vx none)
fi
(( ${#bugs[@]} )) || die "no bugs in dataplane/base/planted_bug.h"

say "$seeds seeds without a bug"
"$railyard" swarm --seeds "1-$seeds" >"$root/build/planted/none.log" || { cat "$root/build/planted/none.log"; die "a seed fails as it is"; }

missed=()
for bug in "${bugs[@]}"; do
  log=$root/build/planted/$bug.log
  status=0
  "$railyard" swarm --seeds "1-$seeds" --planted-bug "$bug" >"$log" 2>&1 || status=$?
  found=$(sed -n 's/^seed \([0-9]*\) FAILED$/\1/p' "$log" | head -n 1)
  if (( status == 1 )) && [[ -n $found ]]; then
    printf 'found   %-24s seed %-4s %s\n' "$bug" "$found" "$(sed -n '/FAILED/{n;s/^ *//;p;q}' "$log" | cut -c 1-90)"
  else
    printf 'MISSED  %-24s status %s, see %s\n' "$bug" "$status" "$log"
    missed+=("$bug")
  fi
done
(( ${#missed[@]} == 0 )) || die "${#missed[@]} of ${#bugs[@]} planted bugs went unnoticed: ${missed[*]}"
printf '%d planted bugs, all found\n' "${#bugs[@]}"
