#!/usr/bin/env bash
# `railyard validate` of running labs, and probes that find a link that has become slow: built-in NICs without privileges,
# network namespaces where there are some.
#
# usage: tests/live/validate.sh
# Needs the release build (build/release); the second part root, ping and iperf3.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=${BUILD:-$root/build/release}/bin/railyard
for tool in jq curl; do command -v "$tool" >/dev/null || { echo "validate: no $tool (Debian: $tool)" >&2; exit 2; }; done
[[ -x $railyard ]] || { echo "validate: no $railyard; build it first" >&2; exit 2; }
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-validate.XXXXXX")
export RAILYARD_STATE_DIR=$work/state
mkdir -m 700 "$RAILYARD_STATE_DIR"
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$railyard" down --all >/dev/null 2>&1 || true; rm -rf -- "$work"; }
trap cleanup EXIT
die() { printf 'validate: %s\n' "$*" >&2; exit 1; }
answer() { jq -r ".lines[] | select(.id == \"$1\") | .answer" "$work/result"; }
is() { [[ $(answer "$1") == "$2" ]] || die "$1 is $(jq -c ".lines[] | select(.id == \"$1\")" "$work/result"), not $2"; }
trains='bandwidth-alone,latency-idle,mtu,classes,pauses,loss'

cat >"$work/built-in.yaml" <<'END'
name: built-in
# Links to a spine carry both hosts of a leaf: no hash can put too much on one.
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2, fabric-link: { rate: 20Gbps } }
defaults: { link: { rate: 10Gbps } }
probe: { every: 200ms }
run: { clock: wall, memory: 256MiB }
END
"$railyard" up "$work/built-in.yaml" --detach >/dev/null
"$railyard" validate built-in --only "$trains,all-reduce,hosts-mtu,pace,failover,soak" --disturb --duration 3s --interval 500ms \
  --checkpoint "$work/soak.json" --json >"$work/result" || die "a healthy lab does not pass: $(cat "$work/result")"
for line in bandwidth-alone mtu classes pauses loss failover soak; do is "$line" pass; done
is latency-idle report
for line in all-reduce hosts-mtu; do is "$line" "not run"; done
jq -e '.lines[] | select(.id == "hosts-mtu") | .found | startswith("not applicable")' "$work/result" >/dev/null || die "no reason"
"$railyard" status --audit >/dev/null || die "the books do not balance"
echo "built-in NICs: a healthy lab passes"

# Interrupted after two intervals and resumed, the soak has all six.
jq '.samples |= .[:2]' "$work/soak.json" >"$work/part.json"
"$railyard" validate built-in --only soak --duration 3s --interval 500ms --resume "$work/part.json" --json >"$work/result"
jq -e '.samples | length == 6' "$work/part.json" >/dev/null || die "the soak did not resume"
! why=$("$railyard" validate built-in --only soak --interval 1s --resume "$work/part.json" 2>&1) || die "another interval was resumed"
[[ $why == *'--resume: '*'--interval is 1 s'* ]] || die "it says: $why"
echo "the soak resumes"

# Somebody takes a link down and up again.
( sleep 1.2; "$railyard" link down leaf1:1 --lab built-in; "$railyard" link up leaf1:1 --lab built-in ) >/dev/null &
! why=$("$railyard" validate built-in --only soak --duration 5s --interval 500ms 2>&1) || die "a change was not noticed"
wait
# By what was asked for, or by what it sees of the link before that is in the log.
[[ $why == *"lab 'built-in' was changed while it was validated: link "@(leaf1:1|h1:1)* ]] || die "of a change it says: $why"
(( $(wc -l <<<"$why") == 1 )) || die "more than one line: $why"
echo "a change is named"

slow() { "$railyard" probes --lab built-in --json | jq '.rounds[-1].slow | length'; }
until_it_is() { local end=$((SECONDS + 20)); until [[ $(slow) == "$1" ]]; do (( SECONDS < end )) || die "$(slow) pairs are slow, not $1"; sleep 0.2; done; }
until_it_is 0
"$railyard" fault add 'name: weak, on: leaf1:1, rate: 1/2' --lab built-in >/dev/null
until_it_is 6
"$railyard" logs --lab built-in | grep 'probe h.:1 -> h.:1: .* below its median' >/dev/null || die "no warning in the log"
"$railyard" probes built-in | sed -n 5p | grep -q 'h1:1' || die "the slowest pair does not come first: $("$railyard" probes built-in)"
"$railyard" validate built-in --only bandwidth-alone --json >"$work/result" && die "a link at half its rate passes"
is bandwidth-alone fail
[[ -s $RAILYARD_STATE_DIR/built-in/probes.jsonl ]] && tail -n 1 "$RAILYARD_STATE_DIR/built-in/probes.jsonl" | jq -e '.pairs | length == 12' >/dev/null || die "no history in the lab's folder"
"$railyard" down --all >/dev/null
echo "probes find a link at half its rate"

# The lab's own work: a collective that has ended is started and ends again, a job that runs is watched, one that was stopped is
# stopped again, and work that goes on has not failed.
cat >"$work/own.yaml" <<'END'
name: own
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2, fabric-link: { rate: 20Gbps } }
defaults: { link: { rate: 10Gbps } }
collectives:
  - { name: ring, collective: all-reduce, size: 1MiB, repeats: 5 }
  - { name: train, collective: all-reduce, size: 1MiB, forward: 4ms, repeats: 10000 }
run: { clock: wall, memory: 256MiB }
END
of() { curl -s --unix-socket "$RAILYARD_STATE_DIR/own/api.sock" http://lab/v1/collectives | jq -r ".collectives[] | select(.name == \"$1\") | $2"; }
ends() { local end=$((SECONDS + 20)); until [[ $(of ring .completed) == true ]]; do (( SECONDS < end )) || die "ring does not end"; sleep 0.2; done; }
"$railyard" up "$work/own.yaml" --detach >/dev/null
ends
"$railyard" validate own --only own-jobs,own-work --json >"$work/result" || die "own work: $(cat "$work/result")"
for line in own-jobs own-work; do is "$line" pass; done
[[ $(of train .stopped) == false && $(of train .completed) == false ]] || die "a job that ran does not run any more"
(( $(of ring '.iterations | length') == 10 )) || die "a collective that had ended was not run once more"
"$railyard" stop train --lab own >/dev/null
"$railyard" validate own --only own-collectives,own-jobs --json >"$work/result" || die "own work, alone: $(cat "$work/result")"
for line in own-collectives own-jobs; do is "$line" pass; done
[[ $(of train .stopped) == true ]] || die "a job that was stopped runs"
n=$(of train '.iterations | length'); sleep 0.5; (( $(of train '.iterations | length') == n )) || die "a job that was stopped goes on"
"$railyard" fault add 'on: leaf1:1, rate: 1/2' --lab own >/dev/null
"$railyard" validate own --only own-collectives --json >"$work/result" && die "a collective over a link at half its rate passes"
is own-collectives fail
"$railyard" down --all >/dev/null
"$railyard" up "$work/built-in.yaml" --detach >/dev/null
"$railyard" validate built-in --only own-collectives,own-jobs --json >"$work/result"
jq -e 'all(.lines[]; .answer == "not run" and (.found | startswith("skipped")))' "$work/result" >/dev/null || die "no work: $(cat "$work/result")"
"$railyard" doctor built-in --plan "$work/built-in.yaml" >"$work/out"
! grep -q 'than-planned\|wrong-switch' "$work/out" || die "a lab as planned: $(cat "$work/out")"
"$railyard" set links.leaf1:1.rate=5Gbps --lab built-in >/dev/null 2>&1 || "$railyard" set topology.host-link.rate=5Gbps --lab built-in >/dev/null
"$railyard" doctor built-in --plan "$work/built-in.yaml" >"$work/out"
grep -q 'slower-than-planned at leaf1:1-h1:1' "$work/out" || die "a slow link: $(cat "$work/out")"
"$railyard" down --all >/dev/null
cat >"$work/detour.yaml" <<'END'
name: detour
topology: { preset: leaf-spine, leaves: 2, spines: 2, hosts-per-leaf: 2 }
defaults: { link: { rate: 100Gbps } }
traffic: [{ name: t, pattern: pairs, from: [h1, h2], to: [h3, h4], transport: roce, qps: 4, rate: 500Mbps }]
run: { clock: wall, memory: 256MiB }
END
"$railyard" up "$work/detour.yaml" --detach >/dev/null
"$railyard" fault add 'on: leaf1:3 out, delay: 40us' --lab detour >/dev/null
"$railyard" int --lab detour --one-in 20 --for 2s >/dev/null
"$railyard" doctor detour >"$work/out"
grep -q 'hop-delay at leaf1:3-spine1:1' "$work/out" || die "a detour: $(cat "$work/out")"
"$railyard" down --all >/dev/null
echo "the lab's own collectives and jobs; speeds against a plan; a detour by in-band telemetry"

if (( EUID != 0 )) || ! command -v ping >/dev/null || ! command -v iperf3 >/dev/null; then
  echo "validate: namespaces skipped: root, ping and iperf3 are needed"
  exit 0
fi
cat >"$work/hosts.yaml" <<'END'
name: hosts
topology: { preset: leaf-spine, leaves: 2, spines: 1, hosts-per-leaf: 1 }
defaults: { link: { rate: 20Mbps, mtu: 1500 } }
hosts: { default: { attach: namespace } }
run: { clock: wall, memory: 256MiB }
END
"$railyard" up "$work/hosts.yaml" --detach >/dev/null
"$railyard" validate hosts --only hosts-mtu,hosts-latency,hosts-bandwidth,hosts-classes,hosts-rdma,bandwidth-alone --p99 1s --bandwidth 50 --json \
  >"$work/result" || die "hosts: $(cat "$work/result")"
for line in hosts-mtu hosts-latency hosts-bandwidth hosts-classes; do is "$line" pass; done
for line in hosts-rdma bandwidth-alone; do is "$line" "not run"; done
"$railyard" fault add 'on: leaf1, mtu: 1000' --lab hosts >/dev/null 2>&1 || "$railyard" fault add 'on: leaf1:1, mtu: 1000' --lab hosts >/dev/null
"$railyard" validate hosts --only hosts-mtu --json >"$work/result" && die "an MTU of 1000 on the way passes 1500"
is hosts-mtu fail
"$railyard" down --all >/dev/null
echo "namespaces: MTU, latency, bandwidth, classes by ping and iperf3"

if ! command -v fi_pingpong >/dev/null || [[ ! -e ${BUILD:-$root/build/release}/lib/railyard/librailyard-fi.so ]]; then
  echo "validate: libfabric skipped: fi_pingpong (Debian: libfabric-bin) and the provider are needed"
  exit 0
fi
"$railyard" up "$root/topologies/labs/applications.yaml" --name applications --detach >/dev/null
"$railyard" validate applications --only hosts-libfabric,hosts-rdma --pairs 2 --json >"$work/result" || die "programs: $(cat "$work/result")"
is hosts-libfabric pass
"$railyard" link down leaf1:1 --lab applications >/dev/null
"$railyard" validate applications --only hosts-libfabric --pairs 1 --json >"$work/result" && die "a ping-pong over a link that is down passes"
is hosts-libfabric fail
"$railyard" down --all >/dev/null
echo "libfabric programs on hosts of applications"
