#!/usr/bin/env bash
# Agents on hosts with `attach: application`: ranks of an all-reduce and ends of flows, with built-in NICs as the others, every
# octet verified.
#
# usage: tests/live/application_agents.sh
# Needs root, and the release build (build/release).
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
(( $# == 0 )) || { sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p}' "$0"; exit 2; }
name=application-agents spec=$root/topologies/labs/agents.yaml
. "$here/applications.sh"
need "jq" jq
[[ -x $root/build/release/bin/railyard-agent ]] || { echo "$name: no railyard-agent (Debian: libibverbs-dev); build it first" >&2; exit 2; }
agents=()
join() { "$railyard" agent "$1" >"$work/agent-$1" 2>&1 & agents+=($!); }
status() { "$railyard" status --json | jq -e "$1" >/dev/null; }
collective_is_done() { status '.collectives[0].state == "done"'; }
flows_are_done() { status 'all(.flows[]; .fct_ns != null)'; }
ring() {
  join h1; join h3
  until_so collective_is_done || { "$railyard" status; cat "$work"/agent-h*; return 1; }
  say '%s' "$("$railyard" status --json | jq -r '.collectives[0] | "\(.iterations | length) iterations"')"
  status '.collectives[0] | .verified and (.iterations | length) == 5'
}
flows() {
  until_so flows_are_done || { "$railyard" status; cat "$work"/agent-h*; return 1; }
  cat "$work"/agent-h*
  status '[.agents[].devices[].device] == ["railyard0", "railyard0"]' &&
    status 'all(.flows[]; .delivered_bytes == 1000000 and .corrupted == 0)' && ! grep -q ' [1-9][0-9]* wrong' "$work"/agent-h*
}
agents_end_with_the_lab() {
  "$railyard" down || return 1
  wait "${agents[@]}" || true
}

check "up: two hosts for agents, two that are built in" lab_comes_up --set nodes.h1.attach=application --set nodes.h3.attach=application
check "an all-reduce of two agents and two built-in NICs" ring
check "flows between them" flows
check "agents end with the lab" agents_end_with_the_lab
exit "$failed"
