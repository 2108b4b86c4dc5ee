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
grep -q '^IBVERBS_FOUND:INTERNAL=1' "$root/build/release/CMakeCache.txt" && there bin/railyard-agent
there share/bash-completion/completions/railyard
there share/zsh/vendor-completions/_railyard
there share/fish/vendor_completions.d/railyard.fish
for page in railyard railyard-run railyard-fault railyard-compare-transports; do there "share/man/man1/$page.1.gz"; done
for page in $(cd "$root/docs" && find . -name '*.md'); do there "share/doc/railyard/docs/$page"; done
python3 "$root/tests/docs/links.py" "$prefix/share/doc/railyard" docs || die "links of the installed pages lead nowhere"
there share/doc/railyard/copyright
there share/railyard/softroce/control/guest/agent_frame.h
there lib/systemd/system/railyardd@.service
there share/railyard/softroce/build-image.sh
there share/railyard/fabric.schema.json
there share/doc/railyard/LICENSE
for file in "$root"/topologies/*.yaml; do there "share/railyard/topologies/$(basename "$file")"; done
for file in "$root"/topologies/labs/*.yaml; do there "share/railyard/topologies/labs/$(basename "$file")"; done
if [[ -f $root/README.md ]]; then there share/doc/railyard/README.md; fi
printf 'ok: binary, topologies, schema and documents are installed\n'

[[ $(railyard docs | head -n 1) == "$prefix/share/doc/railyard/docs" ]] || die "railyard docs says: $(railyard docs)"
for page in tutorials/ci-author.md api.md keys.md; do
  grep -q "^  $page " <<<"$(railyard docs)" || die "railyard docs does not list $page"
done
grep -q '^.SH EXAMPLES' <<<"$(zcat "$prefix/share/man/man1/railyard-run.1.gz")" || die "the page of run has no examples"
bash -n "$prefix/share/bash-completion/completions/railyard" || die "bash cannot read its completion"
printf 'ok: completion, man pages, docs\n'

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
grep -q 'No frames were dropped' "$there_too" || die "report.txt does not say what happened: $(cat "$there_too")"
expect "packet accounting balances, 0 packets in flight" '.audit.balanced and .audit.drained' "$tmp/run.json"
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
[[ $(live ls) == 'no running labs' ]] || die "the lab is not gone"
printf 'ok: a lab comes up, is looked at, goes down\n'

# The Debian packages: what is in them, and what they ask for. tests/bare/package.sh installs them.
if command -v dpkg-shlibdeps >/dev/null; then
  "$root/tools/package.sh" >"$tmp/debs" || die "tools/package.sh failed"
  main=$(grep '/railyard_' "$tmp/debs")
  softroce=$(grep '/railyard-softroce_' "$tmp/debs")
  # Read to its end, whatever is looked for in it: a pipe that grep closes early is an error of the pipeline.
  contents() { dpkg-deb -c "$1" | awk '{ print $6 }'; }
  has() { grep -qx -- "$2" <<<"$(contents "$1")"; }
  for file in bin/railyard bin/railyardd bin/railyard-agent share/man/man1/railyard.1.gz share/doc/railyard/copyright \
      share/bash-completion/completions/railyard share/railyard/topologies/incast-8to1.yaml; do
    has "$main" "./usr/$file" || die "$main has no /usr/$file"
  done
  has "$softroce" ./usr/share/railyard/softroce/build-image.sh || die "$softroce has no build-image.sh"
  # Nothing outside of /usr, nothing twice, nothing of the machine that built it, nobody's files but root's.
  for deb in "$main" "$softroce"; do
    contents "$deb" | grep -vE '^\./(usr/.*)?$' && die "$deb puts files outside of /usr"
    dpkg-deb -c "$deb" | awk '$2 != "root/root" || ($1 !~ /^l/ && $1 ~ /^.....w..w|^........w/) { print; bad = 1 } END { exit bad }' ||
      die "$deb has files of others than root, or that others may write"
    [[ $(dpkg-deb -f "$deb" Version) == "${version#railyard }"* || ${version#railyard } == "$(dpkg-deb -f "$deb" Version)"* ]] ||
      die "$deb has version $(dpkg-deb -f "$deb" Version), the program $version"
    [[ -n $(dpkg-deb -f "$deb" Maintainer) && -n $(dpkg-deb -f "$deb" Description) ]] || die "$deb says nothing of itself"
  done
  [[ $(comm -12 <(contents "$main" | grep -v '/$' | sort) <(contents "$softroce" | grep -v '/$' | sort)) == '' ]] ||
    die "both packages have the same file"
  depends=$(dpkg-deb -f "$main" Depends)
  for package in libc6 libfmt9 libyaml-cpp0.7 librte-eal23 librte-mempool-ring23 librte-net-vhost23 libspdlog1 libibverbs1 iproute2; do
    [[ $depends == *"$package"* ]] || die "$main does not depend on $package: $depends"
  done
  [[ $(dpkg-deb -f "$main" Architecture) == amd64 && $(dpkg-deb -f "$softroce" Depends) == *qemu-system-x86* ]] ||
    die "architecture or QEMU is missing"
  printf 'ok: the Debian packages\n'
fi
