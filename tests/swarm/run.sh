#!/usr/bin/env bash
# Would the swarm notice? Builds railyard with bugs on purpose (dataplane/base/planted_bug.h), and wants each of them to
# be found within 200 seeds, and none where there is none; and that the command and the smallest list of faults that are
# printed of a seed that fails are right.
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

# What a failing swarm has printed is true: the command that it names fails by the same rule, and without any one of the
# faults that it lists nothing of that kind happens. Prints what is not so. $1: its report.
check_report() {
  local report=$1 rule again seed out status f others
  rule=$(jq -r '.failed[0].violations[0].rule' "$report")
  again=$(jq -r '.failed[0].again' "$report")
  seed=$(jq '.failed[0].seed' "$report")
  status=0
  out=$(cd "$root/build/planted" && PATH=${railyard%/*}:$PATH bash -c "$again" 2>&1) || status=$?
  if (( status != 1 )) || ! grep -q "^  $rule: " <<<"$out"; then
    printf 'exit code %s in the place of 1 with "%s": %s\n' "$status" "$rule" "$again"
  fi
  for f in $(jq -r '.failed[0].faults[].name' "$report"); do
    others=$(jq -r --arg f "$f" '.failed[0] | [.faults, .traffic, .collectives | .[].name] - [$f] | join(",")' "$report")
    status=0
    out=$("$railyard" swarm --seeds "$seed" --planted-bug "$2" --only "$others" 2>&1) || status=$?
    if (( status > 1 )) || grep -q "^  $rule: " <<<"$out"; then
      printf 'exit code %s, and "%s" without %s as well: its list is not the smallest\n' "$status" "$rule" "$f"
    fi
  done
}

# Of one run: what it prints where the books do not balance is worth nothing, and says so.
say "a frame from nowhere, in one run"
status=0
"$railyard" run "$root/topologies/scenarios/duplicate.yaml" --planted-bug duplicate-not-counted \
  >"$root/build/planted/run.log" 2>&1 || status=$?
if (( status != 4 )) || ! grep -qi 'do not balance' "$root/build/planted/run.log"; then
  cat "$root/build/planted/run.log"
  die "exit code $status in the place of 4, or not a word of it"
fi

missed=()
for bug in "${bugs[@]}"; do
  log=$root/build/planted/$bug.json
  status=0
  "$railyard" swarm --seeds "1-$seeds" --planted-bug "$bug" --json >"$log" 2>"$log.err" || status=$?
  found=$(jq -r '.failed[0].seed // empty' "$log" 2>/dev/null) || found=
  if (( status != 1 )) || [[ -z $found ]]; then
    printf 'MISSED  %-24s status %s, see %s\n' "$bug" "$status" "$log"
    missed+=("$bug")
    continue
  fi
  printf 'found   %-24s seed %-4s %s\n' "$bug" "$found" \
    "$(jq -r '.failed[0].violations[0] | .rule + ": " + .what' "$log" | cut -c 1-90)"
  untrue=$(check_report "$log" "$bug")
  [[ -z $untrue ]] || die "$bug: what is printed of seed $found is not so: $untrue"
done
(( ${#missed[@]} == 0 )) || die "${#missed[@]} of ${#bugs[@]} planted bugs went unnoticed: ${missed[*]}"
printf '%d planted bugs, all found\n' "${#bugs[@]}"
