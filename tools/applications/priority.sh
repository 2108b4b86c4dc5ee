# shellcheck shell=bash
# For scripts that run a live lab and programs on it, to be sourced: the fabric and the programs are more busy threads than a
# small machine has processors, and programs time out (docs/applications.md, "How much the machine has to give").

# NICE: this shell, and what it starts, goes before what else runs here, and Linux does not divide processors among sessions.
# Without the rights nothing changes. give_back_processors undoes it.
autogroups=/proc/sys/kernel/sched_autogroup_enabled
had_autogroups=
session_nice=
take_processors() {
  renice -n "$1" -p $$ >/dev/null 2>&1 || return 0
  session_nice=$(sed 's/.*nice //' /proc/$$/autogroup 2>/dev/null) || true
  [[ -z $session_nice ]] || { echo "$1" >/proc/$$/autogroup; } 2>/dev/null || true
  had_autogroups=$(cat "$autogroups" 2>/dev/null) || true
  { echo 0 >"$autogroups"; } 2>/dev/null || had_autogroups=
}
give_back_processors() {
  [[ -z $session_nice ]] || { echo "$session_nice" >/proc/$$/autogroup; } 2>/dev/null || true
  [[ -z $had_autogroups ]] || { echo "$had_autogroups" >"$autogroups"; } 2>/dev/null || true
}
