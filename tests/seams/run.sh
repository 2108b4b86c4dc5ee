#!/usr/bin/env bash
# Does one more kind cost a few lines? Adds a dummy kind of each sort to a copy of the sources, by the lines that "How to
# add" names and no others, builds railyard there, and runs a lab that uses the kind.
#
# usage: tests/seams/run.sh [--check] [NAME...]      (all of kinds/, or those named)
#   --check   builds nothing: only says whether the lines still fit the sources
#
# A kind is a file kinds/<name>.kind:
#   # What it is, in words.
#   file: control/spec/fault_spec.h       what is changed or, if it is not there, made; at most five files
#   --- after                             a text that stands there exactly once (or: --- before); not for a new file
#   ...
#   --- add
#   ...                                   the lines that go behind it (or before it)
#   ---
#   file: kinds/<name>.yaml               of this folder: a lab; does not count
#   run: railyard run LAB --json | ...    a shell command; LAB is kinds/<name>.yaml
#   expect: REGEX                         what a line of its output must match
# The target fabric-schema writes what is generated, and spec_test must pass; then each `run` in turn.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/common.sh"
. "$root/tests/support/copy_tree.sh"

here=$root/tests/seams
most=5

# Adds the lines to $tree; fills `what`, `files`, `runs` and `expected`. With `check` nothing is written.
add_kind() { # NAME
  local name=$1 line part='' file='' anchor='' where='' lines=''
  what='' files=() runs=() expected=()
  while IFS= read -r line || [[ -n $line ]]; do
    case $part:$line in
      :'# '*) what+="${what:+ }${line#\# }" ;;
      :'file: '*) file=${line#file: }; files+=("$file") ;;
      :'--- after' | :'--- before') where=${line#--- } part=anchor anchor='' ;;
      :'--- add' | anchor:'--- add') part=lines lines='' ;;
      lines:'---') insert "$name" "$file" "$where" "${anchor%$'\n'}" "${lines%$'\n'}"; part='' where='' anchor='' ;;
      anchor:*) anchor+=$line$'\n' ;;
      lines:*) lines+=$line$'\n' ;;
      :'run: '*) runs+=("${line#run: }"); expected+=('') ;;
      :'expect: '*) expected[-1]=${line#expect: } ;;
      :) ;;
      *) die "$name: cannot make sense of: $line" ;;
    esac
  done <"$here/kinds/$name.kind"
  [[ -z $part && ${#files[@]} -gt 0 && ${#runs[@]} -gt 0 ]] || die "$name: incomplete; lines end with ---"
  mapfile -t files < <(printf '%s\n' "${files[@]}" | LC_ALL=C sort -u)
  (( ${#files[@]} <= most )) || die "$name: ${#files[@]} files for one kind; expected at most $most: ${files[*]}"
}

insert() { # NAME FILE WHERE ANCHOR LINES
  local name=$1 file=$tree/$2 where=$3 anchor=$4 lines=$5 text rest
  if [[ -z $where ]]; then
    [[ ! -e $file ]] || die "$name: $2 is there already; expected --- after or --- before"
    (( check )) || { mkdir -p "$(dirname "$file")"; printf '%s\n' "$lines" >"$file"; }
    return
  fi
  [[ -f $file ]] || die "$name: there is no $2"
  text=$(<"$file")
  [[ -n $anchor && $text == *"$anchor"* ]] || die "$name: this does not stand in $2 any more: $anchor"
  rest=${text#*"$anchor"}
  [[ $rest != *"$anchor"* ]] || die "$name: this stands in $2 more than once: $anchor"
  (( !check )) || return 0
  if [[ $where == after ]]; then
    printf '%s\n' "${text%%"$anchor"*}$anchor"$'\n'"$lines$rest" >"$file"
  else
    printf '%s\n' "${text%%"$anchor"*}$lines"$'\n'"$anchor$rest" >"$file"
  fi
}

check=0
if [[ ${1:-} == --check ]]; then check=1; shift; fi
kinds=("$@")
if (( ${#kinds[@]} == 0 )); then for f in "$here"/kinds/*.kind; do kinds+=("$(basename "$f" .kind)"); done; fi

if (( check )); then
  tree=$root
  for kind in "${kinds[@]}"; do add_kind "$kind"; printf '%-20s %d files: %s\n' "$kind" "${#files[@]}" "${files[*]}"; done
  exit
fi

use_tree "$root/build/seams/tree"
for kind in "${kinds[@]}"; do
  say "a kind more: $kind"
  copy_tree  # and so without the kind before
  add_kind "$kind"
  in_tree configure dev -DRAILYARD_BENCH=OFF
  in_tree build dev fabric-schema
  in_tree build dev railyard spec_test
  "$tree/build/dev/bin/spec_test" --gtest_brief=1 || die "$kind: spec_test fails"
  for i in "${!runs[@]}"; do
    output=$(cd "$tree" && PATH=$tree/build/dev/bin:$PATH LAB=$here/kinds/$kind.yaml bash -c "${runs[i]//LAB/\$LAB}") ||
      die "$kind: this failed: ${runs[i]}"
    [[ -z ${expected[i]} ]] || grep -qE -- "${expected[i]}" <<<"$output" ||
      die "$kind: ${runs[i]}: expected a line like ${expected[i]}, found:"$'\n'"$output"
  done
  printf '%s: %d files, and all that is generated: %s\n' "$kind" "${#files[@]}" "${files[*]}"
done
