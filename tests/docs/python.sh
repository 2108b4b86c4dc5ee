#!/usr/bin/env bash
# The commands and programs of docs/python.md, in their order, as they stand there.
#
# usage: tests/docs/python.sh [RAILYARD]      (default: build/release/bin/railyard; ends with 77 without pandas, matplotlib)
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
railyard=${1:-$root/build/release/bin/railyard}
# The first Python that has both: another may stand before Debian's in PATH.
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import pandas, matplotlib' 2>/dev/null; then python=$candidate; break; fi
done
[[ $python ]] ||
  { echo "skipped: no pandas or no matplotlib (Debian: python3-pandas python3-matplotlib)"; exit 77; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ln -s "$root/topologies" "$work/topologies"
cd "$work"
mkdir bin && ln -s "$railyard" bin/railyard
export PATH=$work/bin:$PATH MPLBACKEND=Agg
awk '/^```(sh|python)$/ { kind = substr($0, 4); n++; next } /^```$/ { kind = ""; next }
     kind { print > sprintf("%02d.%s", n, kind) }' "$root/docs/python.md"
blocks=0
for block in [0-9][0-9].*; do
  case $block in
    *.sh) bash -euo pipefail "$block" >"$block.out" ;;
    *.python) "$python" -W error::FutureWarning "$block" >"$block.out" ;;
  esac || { printf 'FAIL  docs/python.md, block %s:\n' "$block"; cat "$block" "$block.out"; exit 1; }
  blocks=$((blocks + 1))
done
(( blocks >= 6 )) || { echo "only $blocks blocks found in docs/python.md"; exit 1; }
for picture in goodput queues sweep; do [[ -s $picture.svg ]] || { echo "no $picture.svg"; exit 1; }; done
printf 'ok: %d blocks of docs/python.md\n' "$blocks"
