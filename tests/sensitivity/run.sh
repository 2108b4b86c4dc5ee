#!/usr/bin/env bash
# Would the tests notice? Plants one bug after the other in a copy of the sources, builds the tests that should notice,
# and wants one of them to fail.
#
# usage: tests/sensitivity/run.sh [--check] [NAME...]      (all of planted/, or those named)
#   --check   builds nothing: only says whether each bug can still be planted
#
# A planted bug is a file planted/<name>.bug:
#   # What is wrong, in words.
#   tests: switch_test scenario_test         the binaries that are tried, in this order
#   file: dataplane/switch/mmu.h             then what is there, once in that file, and what takes its place
#   --- from
#   ...
#   --- to
#   ...
#   ---                                      more of `file:` or `--- from` may follow
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/common.sh"
. "$root/tests/support/copy_tree.sh"

here=$root/tests/sensitivity
limit=300  # seconds that a test binary may take before it counts as hanging

# One worker for each processor, with a copy of the sources of its own.
workers=$(jobs)
enter() { # WORKER: what follows is done in its copy
  use_tree "$root/build/sensitivity/tree-$1"
  pristine=$root/build/sensitivity/pristine-$1  # what a planted bug has changed, as it was
  jobs() { echo 1; }
}


# Replaces the text `from`, which must stand in the file exactly once.
replace() { # BUG FILE FROM TO
  local bug=$1 file=$tree/$2 from=$3 to=$4 text rest
  text=$(<"$file")
  [[ -n $from && $text == *"$from"* ]] || die "$bug: this does not stand in $2 any more: $from"
  rest=${text#*"$from"}
  [[ $rest != *"$from"* ]] || die "$bug: this stands in $2 more than once: $from"
  (( check )) || printf '%s\n' "${text%%"$from"*}$to$rest" >"$file"
}

keep() { # FILE: as it is, before it is changed
  touched+=("$1")
  (( !check )) || return 0
  mkdir -p "$pristine/$(dirname "$1")"
  cp "$tree/$1" "$pristine/$1"
}

# Reads a .bug file: fills `what`, `tests`, `touched` and changes the copy.
plant() { # BUG
  local bug=$1 line part='' file='' from='' to=''
  what='' tests='' touched=()
  while IFS= read -r line || [[ -n $line ]]; do
    case $part:$line in
      :'# '*) what+="${what:+ }${line#\# }" ;;
      :'tests: '*) tests=${line#tests: } ;;
      :'file: '*)
        file=${line#file: }
        [[ -f $tree/$file ]] || die "$bug: there is no $file"
        keep "$file" ;;
      :'--- from') part=from from='' to='' ;;
      from:'--- to') part=to ;;
      to:'---') replace "$bug" "$file" "${from%$'\n'}" "${to%$'\n'}"; part='' ;;
      from:*) from+=$line$'\n' ;;
      to:*) to+=$line$'\n' ;;
      :) ;;
      *) die "$bug: cannot make sense of: $line" ;;
    esac
  done <"$here/planted/$bug.bug"
  [[ -z $part && -n $tests && ${#touched[@]} -gt 0 ]] || die "$bug: incomplete; the last line of a change is ---"
}
uproot() { for f in "${touched[@]}"; do cp "$pristine/$f" "$tree/$f"; done; }

# Runs the tests in turn until one fails; prints which. 1: none does; 2: they do not even compile.
find_bug() { # TEST...
  local t log=$tree/build/test.log status
  for t in "$@"; do
    in_tree build dev "$t" >&2 || return 2
    status=0
    timeout "$limit" "$tree/build/dev/bin/$t" --gtest_brief=1 --gtest_fail_fast >"$log" 2>&1 || status=$?
    case $status in
      0) continue ;;
      124) printf '%s hangs' "$t" ;;
      *) printf '%s' "$t: $(sed -n 's/^\[  FAILED  \] \([^ ]*\).*/\1/p' "$log" | head -n 1 | grep . || echo "stopped, $(tail -n 1 "$log")")" ;;
    esac
    return 0
  done
  return 1
}

check=0
if [[ ${1:-} == --check ]]; then check=1; shift; fi
bugs=("$@")
if (( ${#bugs[@]} == 0 )); then for f in "$here"/planted/*.bug; do bugs+=("$(basename "$f" .bug)"); done; fi

if (( check )); then
  tree=$root
  stale=0
  for bug in "${bugs[@]}"; do
    (plant "$bug" && for t in $tests; do
      grep -rqE "railyard_test\($t\b" --include=CMakeLists.txt "$root/tests" || die "$bug: there is no test $t"
    done) || stale=1
  done
  (( !stale )) || die "some of ${#bugs[@]} bugs cannot be planted as they are"
  printf '%d bugs, all of them can be planted\n' "${#bugs[@]}"
  exit
fi

say "copies of the sources, and their tests without any bug"
mapfile -t all_tests < <(for b in "${bugs[@]}"; do sed -n 's/^tests: //p' "$here/planted/$b.bug"; done | tr ' ' '\n' | sort -u)
verdicts=$(mktemp -d "${TMPDIR:-/tmp}/railyard-planted.XXXXXX")
trap 'rm -rf -- "$verdicts"' EXIT

# Bugs number WORKER, WORKER + workers, ...: what was missed goes into a file of the worker's own.
work_through() { # WORKER
  local i bug status by candidates
  enter "$1"
  copy_tree
  in_tree configure dev -DRAILYARD_BENCH=OFF -DRAILYARD_TOGETHER=ON
  status=0
  if (( $1 == 0 )); then
    by=$(find_bug "${all_tests[@]}") || status=$?
    (( status == 1 )) || die "the tests fail as it is: ${by:-they do not compile}"
  else
    in_tree build dev "${all_tests[@]}" >&2
  fi
  for (( i = $1; i < ${#bugs[@]}; i += workers )); do
    bug=${bugs[i]}
    plant "$bug"
    status=0
    read -ra candidates <<<"$tests"
    by=$(find_bug "${candidates[@]}") || status=$?
    case $status in
      0) printf 'found   %-28s %s\n' "$bug" "$by" ;;
      1) printf 'MISSED  %-28s %s Passed: %s\n' "$bug" "$what" "$tests"; printf '%s\n' "$bug" >>"$verdicts/missed.$1" ;;
      *) die "$bug does not compile; it says nothing so" ;;
    esac
    uproot
  done
  touch "$verdicts/done.$1"
}
for (( w = 0; w < workers; ++w )); do work_through "$w" & done
wait

for (( w = 0; w < workers; ++w )); do [[ -f $verdicts/done.$w ]] || die "not all bugs were tried"; done
mapfile -t missed < <(cat "$verdicts"/missed.* 2>/dev/null)

(( ${#missed[@]} == 0 )) || die "${#missed[@]} of ${#bugs[@]} planted bugs went unnoticed: ${missed[*]}"
printf '%d planted bugs, all found\n' "${#bugs[@]}"
