#!/usr/bin/env bash
# tools/profile.sh builds a program that comes to the same results as build/release/bin/railyard.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
"$root/tools/profile.sh"
digest() { # PROGRAM OPTIONS...
  local program=$1; shift
  "$program" run "$@" --digest --json | jq -r .trace_digest
}
for run in "permutation-128.yaml --duration 200us" "everything-128.yaml --duration 200us" \
  "roce-128.yaml --duration 100us --set traffic.permutation.transport=uet"; do
  # shellcheck disable=SC2086  # words
  [[ $(digest "$root/build/profiled/bin/railyard" "$root/tests/bench/"$run) == $(digest "$root/build/release/bin/railyard" "$root/tests/bench/"$run) ]] ||
    { echo "another digest: $run"; exit 1; }
  echo "ok    the same digest: $run"
done
