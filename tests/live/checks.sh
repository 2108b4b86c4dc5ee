# shellcheck shell=bash
# For live tests, to be sourced: checks that go on after one has failed. $work is a folder of the test's own; $failed says in
# the end whether any did.
failed=0
check() { # TEXT COMMAND...: what it adds to $work/summary is shown
  local text=$1; shift
  rm -f "$work/summary"
  if "$@" >"$work/log" 2>&1; then
    printf 'ok    %-58s  %s\n' "$text" "$(tail -n1 "$work/summary" 2>/dev/null || true)"
  else
    printf 'FAIL  %s\n' "$text"; { sed -s '$a\' "$work/log" "$work/server" "$work/summary" 2>/dev/null || true; } | sed 's/^/      /'; failed=1
  fi
}
# shellcheck disable=SC2059
say() { printf "$@" >"$work/summary"; }
until_so() { # COMMAND...: for as long as a busy machine may need
  local i
  for (( i = 0; i < 300; ++i )); do "$@" && return; sleep 0.1; done
  printf 'it does not come to that: %s\n' "$*"
  return 1
}
