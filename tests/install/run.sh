#!/usr/bin/env bash
# The installed tree stands by itself: everything that users need is there, and works without the source and the build.
#
# usage: tests/install/run.sh      (installs the release build to a temporary folder; builds it if need be)
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/../../tools/common.sh"

[[ -f $root/build/release/CMakeCache.txt ]] || configure release -DRAILYARD_TESTS=OFF -DRAILYARD_BENCH=OFF
build release railyard

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
prefix=$tmp/usr
cmake --install "$root/build/release" --prefix "$prefix" >"$tmp/install.log" || { cat "$tmp/install.log" >&2; die "cmake --install failed"; }

# Nothing but the installed tree: another working directory, an empty environment.
mkdir "$tmp/elsewhere"
railyard() { (cd "$tmp/elsewhere" && env -i PATH=/usr/bin:/bin HOME="$tmp/elsewhere" "$prefix/bin/railyard" "$@"); }
there() { [[ -s $prefix/$1 ]] || die "not installed: $1"; }
expect() { # WHAT IS TRUE, JQ EXPRESSION, FILE
  jq -e "$2" "$3" >/dev/null || die "$1: \`$2\` is not true of $(head -c 2000 "$3")"
  printf 'ok: %s\n' "$1"
}

there bin/railyard
there bin/railyardd
there lib/systemd/system/railyardd@.service
there share/railyard/softroce/build-image.sh
there share/railyard/fabric.schema.json
there share/doc/railyard/LICENSE
for file in "$root"/topologies/*.yaml; do there "share/railyard/topologies/$(basename "$file")"; done
for file in "$root"/topologies/labs/*.yaml; do there "share/railyard/topologies/labs/$(basename "$file")"; done
if [[ -f $root/README.md ]]; then there share/doc/railyard/README.md; fi
printf 'ok: binary, topologies, schema and documents are installed\n'

version=$(railyard version)
[[ $version == "$("$root/build/release/bin/railyard" version)" && $version =~ ^railyard\ [0-9]+\.[0-9]+\.[0-9]+ ]] ||
  die "railyard version says: $version"
printf 'ok: %s\n' "$version"

railyard schema | cmp - "$prefix/share/railyard/fabric.schema.json" || die "the schema that is installed is not the one of the binary"
printf 'ok: the schema is the one of the binary\n'

lab=$prefix/share/railyard/topologies/incast-8to1.yaml
for file in "$prefix"/share/railyard/topologies/*.yaml; do
  railyard check "$file" >"$tmp/check" || die "check $file failed"
  tail -n 1 "$tmp/check" | grep -Eqx 'ok|0 errors, [0-9]+ warnings?' || die "check $file does not end in ok or warnings"
done
railyard check "$lab" | grep -q '^incast-8to1: 4 switches, 16 hosts with 16 NICs' || die "check miscounts $lab"
printf 'ok: every topology passes its check\n'

railyard run "$lab" --json --digest --report report >"$tmp/run.json"
cmp <(jq -S 'del(.engine)' "$tmp/run.json") <(jq -S 'del(.engine)' "$tmp/elsewhere/report/report.json") || die "report.json is not what was printed"
there_too=$tmp/elsewhere/report/report.txt
grep -q 'Nothing was dropped' "$there_too" || die "report.txt does not say what happened: $(cat "$there_too")"
expect "the books balance and nothing is left" '.audit.balanced and .audit.drained' "$tmp/run.json"
expect "eight flows, none lost a frame" '(.flows | length) == 8 and ([.flows[].lost] | add) == 0' "$tmp/run.json"
expect "the receiver's link was full (more than 95 Gb/s of payload)" '([.flows[].goodput_bps] | add) > 95e9' "$tmp/run.json"
expect "queues were marked and hosts paused" \
  '([.ports[].classes[].ecn_marked] | add) > 0 and ([.ports[].classes[].pfc_sent] | add) > 0' "$tmp/run.json"
"$root/build/release/bin/railyard" run "$root/topologies/incast-8to1.yaml" --json --digest >"$tmp/built.json"
[[ $(jq -r .trace_digest "$tmp/run.json") == "$(jq -r .trace_digest "$tmp/built.json")" ]] || die "another digest than in the build tree"
printf 'ok: the same digest as in the build tree\n'

live() { (cd "$tmp/elsewhere" && env -i PATH=/usr/bin:/bin HOME="$tmp/elsewhere" RAILYARD_STATE_DIR="$tmp/state" "$prefix/bin/railyard" "$@"); }
live up "$lab" --detach >"$tmp/up" || die "the lab does not come up"
live status --audit >"$tmp/audit" || { live down; die "status says: $(cat "$tmp/audit")"; }
live down >/dev/null
[[ $(live ls) == 'no lab is up' ]] || die "the lab is not gone"
printf 'ok: a lab comes up, is looked at, goes down\n'
