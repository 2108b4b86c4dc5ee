#!/usr/bin/env bash
# Agents (railyard-agent, libibverbs) in SoftRoCE guests and built-in NICs as ranks of one all-reduce and ends of the
# same flows across a leaf-spine-leaf path (topologies/labs/agents.yaml): every octet verified on all of them, clean and
# with frames lost, twice, out of order and damaged; a guest that is killed in the middle is reported by name and
# nothing hangs; a wrong token and an unknown host are refused.
#
# usage: agent.sh
# shellcheck disable=SC2317  # functions are called by check
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=$root/build/release/bin/railyard
agent=$root/build/release/bin/railyard-agent
lab=$root/topologies/labs/agents.yaml
[[ -x $agent ]] || { echo "agent.sh: no $agent; libibverbs-dev, and build it" >&2; exit 125; }
out=$(mktemp -d "${TMPDIR:-/tmp}/railyard-interop.XXXXXX")
export RAILYARD_STATE_DIR=$out/state RAILYARD_SOFTROCE_ACCEL=${RAILYARD_SOFTROCE_ACCEL:-tcg}
cleanup() { "$railyard" down --all >/dev/null 2>&1 || true; rm -rf -- "$out"; }
trap cleanup EXIT
failed=0
check() { # TEXT COMMAND...
  local text=$1 began=$SECONDS; shift
  if "$@" >"$out/log" 2>&1; then
    printf 'ok    %-62s (%d s)  %s\n' "$text" $((SECONDS - began)) "$(tail -n1 "$out/summary" 2>/dev/null || true)"
  else
    printf 'FAIL  %s\n' "$text"; sed 's/^/      /' "$out/log" "$out"/agent-h*.log 2>/dev/null || true; failed=1
  fi
  rm -f "$out/summary"
}
status() { "$railyard" status --json | jq -e "$@"; } # [JQ OPTION] FILTER
collective() { # [JQ OPTION] FILTER
  local filter=${*: -1}
  status "${@:1:$#-1}" ".collectives[0] | $filter"
}
until_so() { # SECONDS COMMAND...
  local end=$((SECONDS + $1)); shift
  until "$@" >/dev/null 2>&1; do
    (( SECONDS < end )) || {
      printf 'it does not come to that: %s\n' "$*"; "$railyard" status; "$railyard" logs
      return 1
    }
    sleep 0.5
  done
}
join() { # HOST...: the agents of these, in the background
  local host
  for host in "$@"; do "$railyard" agent "$host" >"$out/agent-$host.log" 2>&1 & done
}

# Who may not join is told why, in one line, and the lab goes on.
socket() { printf 'unix:%s\n' "$out/state/agents/agents.sock"; }
refused() { # EXPECTED ARGUMENT...: by an agent in the guest, which has an RDMA device
  local want=$1 rc=0; shift
  "$railyard" agent h1 -- "$@" 2>"$out/why" || rc=$?
  cat "$out/why"
  (( rc == 3 )) && [[ $(wc -l <"$out/why") == 1 ]] && grep -q "$want" "$out/why"
}
wrong_token() {
  refused "wrong token for host 'h1' of lab 'agents'" --token not-the-token &&
    refused "lab 'agents' has no host 'h9' with an agent" --name h9
}
no_device() { # here, on the machine of the lab, unless it has one
  if compgen -G '/sys/class/infiniband/*' >/dev/null; then return 0; fi
  local rc=0
  RAILYARD_AGENT_TOKEN=12345678 "$agent" --lab "$(socket)" --name h1 2>"$out/why" || rc=$?
  cat "$out/why"
  (( rc == 1 )) && [[ $(wc -l <"$out/why") == 1 ]] && grep -q 'there is no RDMA device' "$out/why"
}
all_reduce() {
  join h1 h3
  until_so 300 collective '.state == "done"' || return 1
  "$railyard" status
  collective '.verified and .completed and .wrong_bytes == 0 and (.iterations | length) == 5' &&
    collective '(.ranks | length) == 4 and (.agents | length) == 2' &&
    collective '[.agents[] | .complete and .device == "rxe1" and .messages > 0 and .wrong_bytes == 0] | all' &&
    collective '[.agents[].hw_counters | length > 0] | all' &&
    status '[.ports[] | select(.node | startswith("spine")) | .tx.packets] | add > 1000' || return 1
  collective '"median \(.time_ns.median / 1e6) ms, busbw \(.busbw_bps / 1e6 | floor) Mb/s"' >"$out/summary"
}
# WRITE, SEND and READ: from a guest to a built-in NIC, from one to a guest, between guests, between built-in NICs.
flows() {
  local all
  all=$("$railyard" status --json | jq -c '.flows') || return 1
  jq -e 'length == 8 and all(.delivered_bytes == 1000000 and .fct_ns > 0 and .corrupted == 0 and
    .roce.completion_errors == 0 and .roce.verified == .roce.messages and .roce.messages >= 10)' <<<"$all" &&
    jq -e '[.[] | select(.roce.agents)] | length == 7' <<<"$all" &&
    jq -e '[.[] | (.roce.agents // [])[] | .device == "rxe1" and (.hw_counters | length > 0)] | all' <<<"$all" || {
    jq . <<<"$all"; return 1; }
  jq -r '[.[] | select(.roce.agents) | .goodput_bps / 1e6 | floor] | "8 flows of 1 MB verified, \(min) to \(max) Mb/s"' \
    <<<"$all" >"$out/summary"
}
all_flows() { until_so 300 status '[.flows[] | .fct_ns != null] | all' && flows; }
# The same in a report, as of a run.
reported() {
  rm -rf "$out/report"
  "$railyard" report "$out/report" || return 1
  jq -e '(.flows | length) == 8 and (.collectives | length) == 1 and .audit.balanced and
    ([.flows[] | .roce.agents // [] | .[].hw_counters | length > 0] | all) and
    ([.flows[] | .roce.verified] | add) > 100' "$out/report/report.json" &&
    grep -q 'write/h1-&gt;h2' "$out/report/report.html"
}
up() { "$railyard" up "$lab" --detach "$@"; }
down() { "$railyard" down; }

# The guest's QEMU is killed during the run.
killed() {
  local began
  join h1 h3
  until_so 300 collective '.state == "running"' || return 1
  sleep 2
  kill -KILL "$(<"$out/state/agents/guests/h3/qemu.pid")"
  began=$SECONDS
  until_so 120 collective '.state == "failed"' || return 1
  collective '.stalled | test("the agent of rank 2 \\(h3:1\\) is lost")' || return 1
  "$railyard" status | grep -q '^no agent of h3: ' || return 1
  # The other agent is still there, and has given up its rank.
  until_so 120 grep -q 'has ended: the agent of rank 2' "$out/agent-h1.log" || return 1
  printf 'reported after %d s: %s\n' $((SECONDS - began)) "$(collective .stalled)" >"$out/summary"
  "$railyard" status --audit
}

# Other QPs, the same agents.
again() {
  local name
  name=$(collective -r .name) || return 1
  "$railyard" again "$name" && until_so 300 collective '.state == "done"' &&
    collective '.attempt == 2 and .verified and .wrong_bytes == 0' || return 1
  while read -r name; do "$railyard" again "$name" || return 1; done \
    < <(status -r '.flows[] | select(.roce.agents) | .name')
  all_flows && ! "$railyard" again nobody
}
# The guest reboots, its agent joins, and the failed collective restarts.
after_the_kill() {
  "$railyard" restart h3 || return 1
  join h3
  "$railyard" again "$(collective -r .name)" && until_so 300 collective '.state == "running" and .attempt == 2'
}

"$root/tools/softroce/build-image.sh"
check "up: two guests, two built-in NICs" up
(( failed == 0 )) || exit 1
check "a wrong token, an unknown host: refused, in one line" wrong_token
check "no RDMA device: said at once" no_device
check "all-reduce of two agents and two built-in NICs, verified" all_reduce
check "flows of WRITE, SEND, READ among all of them, verified" all_flows
check "all of it in report.json and report.html" reported
check "all of it again, without down and up" again
check "the books balance" "$railyard" status --audit
check "down ends the agents" down
wait
faults='[{ name: a, on: leaf1:1, loss: 1% }, { name: b, on: leaf1:1, duplicate: true, probability: 1% },
  { name: c, on: leaf1:1, reorder: { behind: 3, within: 1ms }, probability: 1% },
  { name: d, on: leaf1:1, corrupt: true, probability: 1% }]'
faulty() {
  join h1 h3
  all_flows && until_so 300 collective '.state == "done"' && collective '.verified' &&
    status '[.ports[].lost_on_link] | add > 0'
}
check "up again, frames of h1 lost, twice, out of order, damaged" up --set "faults=$faults" --set collectives.0.repeats=2
check "all of it is verified nevertheless" faulty
check "down" down
wait
check "up again, for an all-reduce that does not end" up --set collectives.0.repeats=10000
check "a guest that is killed in the middle is reported" killed
check "booted anew it takes part in the same again" after_the_kill
check "down" down
wait
exit "$failed"
