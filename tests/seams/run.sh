#!/usr/bin/env bash
# Does one more kind cost a few lines? Adds a dummy kind of each sort to a copy of the sources, in the files that "How to
# add" lists and no others, builds railyard there, and runs a lab that uses the kind.
#
# usage: tests/seams/run.sh [--check] [NAME...]      (all of kinds/, or those named)
#   --check   builds nothing: only says whether the lines still fit the sources, and "How to add" the lines
#
# A kind is a file kinds/<name>.kind:
#   # What it is, in words.
#   how: control/README.md: A preset      the file and the title of its "How to add"
#   file: control/spec/fault_spec.h       what is changed or, if it is not there, made; at most five files
#   --- after                             a text that stands there exactly once (or: --- before); not for a new file
#   ...
#   --- add
#   ...                                   the lines that go behind it (or before it)
#   ---
#   test: BINARY [FILTER]                 a test that must pass, beside spec_test
#   run: railyard run LAB --json | ...    a shell command; LAB is kinds/<name>.yaml
#   expect: REGEX                         what a line of its output must match
# The target fabric-schema writes what is generated, and spec_test must pass; then the tests, and each `run` in turn.
# All kinds go into one copy, which is built once.
#
# "How to add" is a list: "1. `path`: ...", or "2. If ...: `path` or `path`: ..." for what not every kind needs. In a path,
# <name> stands for that of a new file; one that ends with / stands for any file of that folder. A kind must change a file
# of each step but those with "If", and no file that no step names.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/common.sh"
. "$root/tests/support/copy_tree.sh"

here=$root/tests/seams
most=5

# Reads a kind: fills `what`, `how`, `files`, `tests`, `runs` and `expected`. Adds its lines to $tree, unless `only_read`;
# with `check` it only looks whether they fit.
add_kind() { # NAME
  local name=$1 line part='' file='' anchor='' where='' lines=''
  what='' how='' files=() tests=() runs=() expected=()
  while IFS= read -r line || [[ -n $line ]]; do
    case $part:$line in
      :'# '*) what+="${what:+ }${line#\# }" ;;
      :'how: '*) how=${line#how: } ;;
      :'file: '*) file=${line#file: }; files+=("$file") ;;
      :'--- after' | :'--- before') where=${line#--- } part=anchor anchor='' ;;
      :'--- add' | anchor:'--- add') part=lines lines='' ;;
      lines:'---') insert "$name" "$file" "$where" "${anchor%$'\n'}" "${lines%$'\n'}"; part='' where='' anchor='' ;;
      anchor:*) anchor+=$line$'\n' ;;
      lines:*) lines+=$line$'\n' ;;
      :'test: '*) tests+=("${line#test: }") ;;
      :'run: '*) runs+=("${line#run: }"); expected+=('') ;;
      :'expect: '*) expected[-1]=${line#expect: } ;;
      :) ;;
      *) die "$name: cannot make sense of: $line" ;;
    esac
  done <"$here/kinds/$name.kind"
  [[ -z $part && -n $how && ${#files[@]} -gt 0 && ${#runs[@]} -gt 0 ]] || die "$name: incomplete; lines end with ---"
  mapfile -t files < <(printf '%s\n' "${files[@]}" | LC_ALL=C sort -u)
  (( ${#files[@]} <= most )) || die "$name: ${#files[@]} files for one kind; expected at most $most: ${files[*]}"
}

# The steps of a "How to add", one a line: from the line that has the title to the next title.
steps() { # README TITLE
  awk -v title="$2" '
    /^(#+ |\*\*)/ { inside = index($0, "## " title) == 1 || index($0, "**" title "**") == 1 }
    !inside { next }
    /^[0-9]+\. / { if (step != "") print step; step = $0; next }
    /^ +[^ ]/ { if (step != "") { sub(/^ +/, " "); step = step $0 }; next }
    { if (step != "") print step; step = "" }
    END { if (step != "") print step }' "$root/$1"
}

# Whether `files` are those that "How to add" names.
compare_with_steps() { # NAME
  local name=$1 readme=${how%%: *} title=${how#*: } step file path regex found all='^('
  local known=()
  for file in "${files[@]}"; do
    if [[ -e $root/$file ]]; then known+=("old:$file"); else known+=("new:$file"); fi
  done
  local list; list=$(steps "$readme" "$title")
  [[ -n $list ]] || die "$name: $readme has no steps under \"$title\""
  while IFS= read -r step; do
    regex='^('
    while IFS= read -r path; do
      path=${path//./\\.}
      case $path in
        *'<name>'*) regex+="new:${path//<name>/[a-z0-9_]+}|" ;;
        */) regex+="...:$path[^/]+|" ;;
        *) regex+="old:$path|" ;;
      esac
    done < <(grep -oE '`(control|dataplane|transports|tools)/[^`]*`' <<<"$step" | tr -d '`')
    [[ $regex != '^(' ]] || die "$name: $readme, $title: a step names no file: $step"
    all+="${regex#^(}"
    regex="${regex%|})\$"
    found=''
    for file in "${known[@]}"; do if [[ $file =~ $regex ]]; then found=$file; fi; done
    [[ -n $found || $step == [0-9]*.\ If\ * ]] || die "$name: it does not need this step of $readme, $title: $step"
  done <<<"$list"
  all="${all%|})\$"
  for file in "${known[@]}"; do
    [[ $file =~ $all ]] || die "$name: $readme, $title does not name ${file#*:}"
  done
}

insert() { # NAME FILE WHERE ANCHOR LINES
  local name=$1 file=$tree/$2 where=$3 anchor=$4 lines=$5 text rest
  (( !only_read )) || return 0
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

check=0 only_read=0
if [[ ${1:-} == --check ]]; then check=1; shift; fi
kinds=("$@")
if (( ${#kinds[@]} == 0 )); then for f in "$here"/kinds/*.kind; do kinds+=("$(basename "$f" .kind)"); done; fi

if (( check )); then
  tree=$root
  for kind in "${kinds[@]}"; do
    add_kind "$kind"
    compare_with_steps "$kind"
    printf '%-20s %d files: %s\n' "$kind" "${#files[@]}" "${files[*]}"
  done
  exit
fi

use_tree "$root/build/seams/tree"
copy_tree
targets=(railyard spec_test)
for kind in "${kinds[@]}"; do
  add_kind "$kind"
  compare_with_steps "$kind"
  for t in "${tests[@]+"${tests[@]}"}"; do targets+=("${t%% *}"); done
done
say "kinds more: ${kinds[*]}"
in_tree configure dev -DRAILYARD_BENCH=OFF -DRAILYARD_TOGETHER=ON
in_tree build dev fabric-schema
in_tree build dev "${targets[@]}"
passes() { # KIND BINARY [FILTER]
  "$tree/build/dev/bin/$2" --gtest_brief=1 "--gtest_filter=${3:-*}" || die "$1: $2 fails"
}
passes "${kinds[*]}" spec_test
only_read=1
for kind in "${kinds[@]}"; do
  add_kind "$kind"
  for t in "${tests[@]+"${tests[@]}"}"; do
    read -r binary filter <<<"$t"
    passes "$kind" "$binary" "$filter"
  done
  for i in "${!runs[@]}"; do
    output=$(cd "$tree" && PATH=$tree/build/dev/bin:$PATH LAB=$here/kinds/$kind.yaml bash -c "${runs[i]//LAB/\$LAB}") ||
      die "$kind: this failed: ${runs[i]}"
    [[ -z ${expected[i]} ]] || grep -qE -- "${expected[i]}" <<<"$output" ||
      die "$kind: ${runs[i]}: expected a line like ${expected[i]}, found:"$'\n'"$output"
  done
  printf '%s: %d files, and all that is generated: %s\n' "$kind" "${#files[@]}" "${files[*]}"
done
