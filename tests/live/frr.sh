#!/usr/bin/env bash
# Switches that run FRR: sessions come up, a cut heals and fails back, a silent fault is found by BFD, nothing is left.
# Then a user's own speaker: routes put into the kernel by hand.
#
# usage: tests/live/frr.sh
# Needs root, the release build (build/release), and Debian's package frr.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=$root/build/release/bin/railyard
(( EUID == 0 )) || { echo "frr: skipped: needs root"; exit 77; }
command -v vtysh >/dev/null || { echo "frr: skipped: no FRR (Debian: frr)"; exit 77; }
for tool in ping jq; do command -v "$tool" >/dev/null || { echo "frr: no $tool" >&2; exit 2; }; done
[[ -x $railyard ]] || { echo "frr: no $railyard; build it first" >&2; exit 2; }
lab=frr-$$ # beside others on this machine
spec=$root/topologies/labs/frr-leaf-spine.yaml
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-frr.XXXXXX")
export RAILYARD_STATE_DIR=$work/state
mkdir -p "$RAILYARD_STATE_DIR"
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$railyard" down --all >/dev/null 2>&1 || true; rm -rf -- "$work"; }
trap cleanup EXIT
die() { printf 'frr: %s\n' "$*" >&2; "$railyard" logs 2>/dev/null | tail -20 >&2 || true; exit 1; }

inventory() {
  { ip netns list | grep "^ry-$lab"
    find /run/frr /etc/netns -mindepth 1 -maxdepth 1 -name "ry-$lab*"
    pgrep -af "ry-$lab"
  } 2>/dev/null || true
}
# Waits for what others do in their own time; a slow machine is no failure.
await() { # SECONDS WHAT COMMAND...
  local end=$(( SECONDS + $1 )) what=$2; shift 2
  until "$@" >/dev/null 2>&1; do
    (( SECONDS < end )) || die "not within the time: $what"
    sleep 0.2
  done
}
leaf1() { "$railyard" exec leaf1 -- vtysh -c "$1"; }
sessions() { leaf1 'show bgp ipv4 unicast summary json' | jq -e "[.peers[] | select(.state == \"Established\")] | length == $1"; }
bfd_up() { leaf1 'show bfd peers json' | jq -e "[.[] | select(.status == \"up\")] | length == $1"; }
# Members of leaf1's route to h2.
address() { "$railyard" show "$spec" | sed -n "s/^  $1: .* address: \([0-9.]*\),.*/\1/p"; }
h2=$(address h2)
members() { "$railyard" routes leaf1 --json | jq -e --arg to "$h2" \
  "[.switches[0].routes[] | select(.prefix | startswith(\$to + \"/\")) | .next_hops[]] | length == $1"; }
pings() { "$railyard" exec h1 -- ping -4 -c 2 -i 0.2 -W 1 h2; }

# ---- FRR missing, or a configuration that it refuses ----------------------------------------------------------------
says() { # WHAT TEXT COMMAND...
  local what=$1 text=$2 out; shift 2
  out=$("$@" 2>&1) && die "$what: no error"
  [[ $out == *"$text"* && $(wc -l <<<"$out") == 1 ]] || die "$what: $out"
  [[ -z $(inventory) ]] || die "$what left: $(inventory)"
}
says "FRR missing" "install FRR: apt-get install frr" unshare -m sh -c \
  "mount -t tmpfs none /usr/lib/frr && exec '$railyard' up '$spec' --name $lab --detach"
printf 'router bgp 65001\n nonsense\n' >"$work/bad.conf"
says "a bad configuration" "line 2: % Unknown command" \
  "$railyard" up "$spec" --name "$lab" --detach --set "switches.leaf*.control={ frr: $work/bad.conf }"
echo "FRR missing, a bad configuration: one line each"

# ---- Sessions, a cut, failback --------------------------------------------------------------------------------------
"$railyard" up "$spec" --name "$lab" --detach >/dev/null
await 60 "two sessions at leaf1" sessions 2
await 60 "BFD of two sessions at leaf1" bfd_up 2
await 60 "two ways from leaf1 to h2" members 2
await 20 "ping from h1 to h2" pings
"$railyard" exec spine1 -- vtysh -c 'show ip route' | grep -q "^B" || die "no BGP routes at spine1"
echo "leaf-spine of FRR speakers: up, two ways between the leaves"

# Each uplink in turn: the pings take one of them there, and one back.
for uplink in leaf1:2 leaf1:3; do
  "$railyard" exec h1 -- ping -4 -i 0.02 -c 300 -W 1 h2 >"$work/ping" &
  sleep 1
  "$railyard" link down "$uplink" >/dev/null
  await 20 "one way from leaf1 to h2" members 1
  wait $!
  lost=$(awk '/packets transmitted/ { print $1 - $4 }' "$work/ping")
  # Carrier is lost at once: what is lost is what was on its way, and what came until the kernel's routes were read.
  (( lost <= 50 )) || die "$lost of 300 pings lost around a cut: expected at most a second's"
  echo "$uplink cut: $lost of 300 pings lost"
  "$railyard" link up "$uplink" >/dev/null
  await 60 "two sessions again" sessions 2
  await 60 "two ways again" members 2
  pings >/dev/null || die "no ping after the failback"
done
"$railyard" routes leaf1 --since 0s --json | jq -e '.reroutings | length > 2' >/dev/null || die "no reroutings listed"
echo "both back: two ways again"

# ---- A fault without loss of carrier --------------------------------------------------------------------------------
await 60 "BFD of two sessions again" bfd_up 2
"$railyard" fault add "on: leaf1:2, drop: true" >/dev/null
await 30 "BFD finds a silent fault" members 1
await 20 "ping around a silent fault" pings
echo "leaf1:2 silent: found by BFD"
"$railyard" down >/dev/null
[[ -z $(inventory) ]] || die "left: $(inventory)"

# ---- A speaker of the user's own ------------------------------------------------------------------------------------
"$railyard" up "$spec" --name "$lab" --detach --set 'switches.leaf*.control=namespace' --set 'switches.spine*.control=namespace' >/dev/null
h1=$(address h1)
route() { "$railyard" exec "$1" -- ip route add "${@:2}"; }
route leaf1 "$h1/32" dev swp1
route leaf1 "$h2/32" nexthop dev swp2 weight 1 nexthop dev swp3 weight 3
route leaf2 "$h2/32" dev swp1
route leaf2 "$h1/32" dev swp3
for s in spine1 spine2; do route $s "$h1/32" dev swp1; route $s "$h2/32" dev swp2; done
await 20 "ping over routes by hand" pings
"$railyard" routes leaf1 --json | jq -e --arg to "$h2" \
  '[.switches[0].routes[] | select(.prefix | startswith($to + "/")) | .next_hops[].weight] == [1, 3]' >/dev/null ||
  die "the kernel's weights are not the switch's"
"$railyard" down >/dev/null
[[ -z $(inventory) ]] || die "left: $(inventory)"
echo "a speaker of the user's own: routes and weights followed"
