#!/usr/bin/env bash
# The live page: unit tests, and a real browser with a real daemon.
#
# usage: tests/web/run.sh [--pictures | --all] [STEP]
#   --pictures   only makes the screenshots of docs/pictures/
#   --all        the long steps, too: large labs
#   BUILD        (environment) the build to test, if it is not build/release
#   STEP         only the browser's steps whose names contain this
# Needs the release build (build/release) with the page (Node.js and npm), and Debian's chromium. No root.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
build=${BUILD:-$root/build/release}
RAILYARD=$build/bin/railyard
page=$build/tools/web/page
[[ -x $RAILYARD ]] || { echo "web: no $RAILYARD; build it first" >&2; exit 2; }
for tool in node npm chromium curl; do
  command -v "$tool" >/dev/null || { echo "web: skipped: no $tool (Debian: nodejs npm chromium curl)"; exit 77; }
done
[[ -d $page/dist ]] || { echo "web: the page was not built; see the warnings of the build (npm)" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-web.XXXXXX")
export RAILYARD RAILYARD_STATE_DIR=$work/state OUT=${OUT:-$work} LAB=$here/lab.yaml
export FABRIC_SCHEMA=$root/control/spec/fabric.schema.json
mkdir -p "$RAILYARD_STATE_DIR" "$OUT"
chmod 700 "$RAILYARD_STATE_DIR"
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$RAILYARD" down --all >/dev/null 2>&1 || true; rm -rf -- "$work"; }
trap cleanup EXIT
# Where packages are found.
rm -rf "$page/unit" "$page/browser"
cp -r "$here/unit" "$page/unit"
mkdir "$page/browser"
cp "$here"/*.mjs "$page/browser/"
cd "$page"
if [[ ${1-} == --pictures ]]; then
  PICTURES=$root/docs/pictures timeout 120 node browser/pictures.mjs
  exit
fi
export LONG=
if [[ ${1-} == --all ]]; then
  LONG=1
  shift
fi
if [[ -z ${1-} ]]; then
  gzipped=$(cat dist/*.gz dist/assets/*.gz | wc -c)
  (( gzipped <= 300 * 1024 )) || { echo "web: the page has $gzipped bytes compressed; expected at most 307200" >&2; exit 1; }
  npx vitest run --reporter=dot
fi
timeout 900 node browser/page.mjs "$@"
