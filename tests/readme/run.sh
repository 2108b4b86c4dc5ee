#!/usr/bin/env bash
# The README is true: every command that it shows works as it is written, in its order, and what it says quickstart.sh
# ends with is what that command prints.
#
# usage: tests/readme/run.sh [--live]
#   (none)   the commands in virtual time
#   --live   those of the lab that stays, too, with guests (builds their image if there is none)
# What a test cannot do as a reader does: the viewer of a capture is a file, what runs until Ctrl-C runs for some seconds,
# and a client that finds no server yet is started again.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/common.sh"

live=false
case ${1:-} in '') ;; --live) live=true ;; *) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2 ;; esac
[[ -x $root/build/release/bin/railyard ]] || die "no build/release/bin/railyard (tools/quickstart.sh builds it)"

tmp=$(mktemp -d)
export RAILYARD_STATE_DIR=$tmp/state
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$root/build/release/bin/railyard" down --all >/dev/null 2>&1 || true; rm -rf -- "$tmp"; }
trap cleanup EXIT
# A folder that looks like the clone, so that what commands write stays out of it.
for name in build tools topologies README.md; do ln -s "$root/$name" "$tmp/$name"; done
cd "$tmp"

block() { # HEADING: the first ```sh block below it
  awk -v heading="## $1" '$0 == heading { below = 1 } below && /^```sh$/ { on = 1; next } on && /^```$/ { exit } on' README.md
}

failed=0
shown=0
attempt() { # LINE, as it is to be run: in this shell, as its PATH stays
  local began=$SECONDS status=0
  eval "$2" >log 2>&1 || status=$?
  shown=$((shown + 1))
  if (( status == 0 )); then
    printf 'ok    (%3d s)  %s\n' $((SECONDS - began)) "$1"
  else
    printf 'FAIL  (status %d)  %s\n' "$status" "$1"; sed 's/^/      /' log; failed=1
  fi
}
again() { # COMMAND...: until it works, for as long as a busy machine may need
  local i
  for (( i = 0; i < 60; ++i )); do "$@" && return; sleep 0.5; done
  return 1
}
for_a_while() { # COMMAND...
  local status=0
  timeout --signal=INT --kill-after=20 4 "$@" || status=$?
  (( status == 0 || status == 124 || status == 130 ))
}
captured() { [[ $(od -An -tx4 -N4 viewed.pcapng) == *0a0d0d0a* ]]; }

while IFS= read -r line; do
  [[ $line != '# 5. '* ]] || $live || break
  [[ -n $line && $line != '#'* ]] || continue
  run=$line
  case $line in
    'railyard capture '*' | wireshark '*) run="for_a_while ${line%% | wireshark*} >viewed.pcapng && captured" ;;
    *' | head '*) run="(set +o pipefail; ${line%%#*})" ;;  # which may close the pipe early
    'railyard status --watch'*) run="for_a_while $line" ;;
    'railyard exec h1 ib_'*) run="again $line" ;;
  esac
  attempt "$line" "$run"
done < <(block 'The next five')
(( shown > 15 )) || die "only $shown commands found in README.md"

# Commands in its text.
attempt 'railyard graph topologies/rails-4x8.yaml > lab.svg' 'railyard graph topologies/rails-4x8.yaml > lab.svg && cmp lab.svg topologies/rails-4x8.svg'
attempt 'railyard schema' 'railyard schema | jq -e .properties'

# The table that the first command ends with: virtual time gives the same figures everywhere.
railyard compare-transports topologies/scenarios/allreduce-rails.yaml >table 2>&1 || { cat table; failed=1; }
grep -E '^(completed|collective_time|collective_max|busbw|out_of_order|retransmitted|drops|max_queue|peak_buffer) ' README.md >claimed
while IFS= read -r row; do
  if grep -qxF -- "$row" <(sed -E 's/^ +//; s/ +$//' table); then
    printf 'ok    as printed:  %s\n' "${row%% *}"
  else
    printf 'FAIL  README.md has: %s\n      printed is:    %s\n' "$row" "$(grep -- "${row%% *} " table || true)"; failed=1
  fi
done <claimed
[[ -s claimed ]] || die "no table of results in README.md"
exit "$failed"
