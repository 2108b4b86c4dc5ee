#!/usr/bin/env bash
# A live lab at an address that is no loopback one: over TLS with a certificate of our own, and not without; the page, the API and
# metrics; wrong files.
#
# usage: tests/live/tls.sh
# Needs the release build (build/release), openssl, curl and jq. No root.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
railyard=$root/build/release/bin/railyard
[[ -x $railyard ]] || { echo "tls: no $railyard; build it first" >&2; exit 2; }
for tool in openssl curl jq; do
  command -v "$tool" >/dev/null || { echo "tls: skipped: no $tool (Debian: openssl curl jq)"; exit 77; }
done
work=$(mktemp -d "${TMPDIR:-/tmp}/railyard-tls.XXXXXX")
export RAILYARD_STATE_DIR=$work/state
mkdir -m 700 "$RAILYARD_STATE_DIR"
# shellcheck disable=SC2317  # called by the trap
cleanup() { "$railyard" down --all >/dev/null 2>&1 || true; rm -rf -- "$work"; }
trap cleanup EXIT
die() { printf 'tls: %s\n' "$*" >&2; exit 1; }
free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

certificate() { # NAME
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost \
    -addext 'subjectAltName=DNS:localhost,IP:127.0.0.1' -keyout "$work/$1.key" -out "$work/$1.pem" 2>/dev/null
}
certificate ours
certificate other
cat >"$work/lab.yaml" <<'END'
name: tls
topology: { preset: leaf-spine, leaves: 1, spines: 1, hosts-per-leaf: 2 }
traffic: [ { name: t, from: h1, to: h2, rate: 1Gbps } ]
run: { clock: wall, scale: 1/1000, memory: 64MiB }
END
page=$(free_port) metrics=$(free_port)

refused() { # EXPECTED OPTION...
  local expected=$1 said; shift
  if said=$("$railyard" up "$work/lab.yaml" --detach "$@" 2>&1); then die "up $*: came up"; fi
  [[ $said == *"$expected"* && $(wc -l <<<"$said") == 1 ]] || die "up $*: said: $said; expected one line with: $expected"
}
refused 'no loopback address, and others need TLS' --listen "0.0.0.0:$page"
refused 'no loopback address, and others need TLS' --metrics "0.0.0.0:$metrics"
refused 'requires --tls-key' --listen "0.0.0.0:$page" --tls-cert "$work/ours.pem"
refused "--tls-cert: cannot read $work/none.pem: No such file" --listen "0.0.0.0:$page" --tls-cert "$work/none.pem" --tls-key "$work/ours.key"
refused "--tls-key: cannot use $work/other.key: key values mismatch" --listen "0.0.0.0:$page" --tls-cert "$work/ours.pem" --tls-key "$work/other.key"
refused "--tls-cert: cannot use $work/lab.yaml: " --listen "0.0.0.0:$page" --tls-cert "$work/lab.yaml" --tls-key "$work/ours.key"
openssl ec -aes128 -passout pass:secret -in "$work/ours.key" -out "$work/locked.key" 2>/dev/null
refused "--tls-key: cannot use $work/locked.key" --listen "0.0.0.0:$page" --tls-cert "$work/ours.pem" --tls-key "$work/locked.key"
echo "ok    an address that is no loopback one is refused without TLS; wrong files are named"

(cd "$work" && "$railyard" up lab.yaml --detach --listen "0.0.0.0:$page" --metrics "0.0.0.0:$metrics" --tls-cert ours.pem \
  --tls-key ours.key >up.txt)
grep -q "https://.*:$page/#code=" "$work/up.txt" || die "no link with https: $(<"$work/up.txt")"
token=$(<"$RAILYARD_STATE_DIR/tls/token")
get() { curl -s --cacert "$work/ours.pem" -o "$work/answer" -w "%{http_code}" "$@" || true; }
[[ $(get "https://localhost:$page/") == 200 ]] || die "no page"
[[ $(get "https://localhost:$page/v1/lab") == 401 ]] || die "the API without a token"
[[ $(get -H "Authorization: Bearer $token" "https://localhost:$page/v1/lab") == 200 ]] || die "the API with the token"
[[ $(jq -r .name "$work/answer") == tls ]] || die "another lab"
[[ $(get -H "Authorization: Bearer $token" -H 'Origin: https://evil.example' "https://localhost:$page/v1/lab") == 403 ]] || die "a foreign page"
[[ $(get "https://localhost:$metrics/metrics") == 401 ]] || die "metrics without a token"
[[ $(get -H "Authorization: Bearer $token" "https://localhost:$metrics/metrics") == 200 ]] || die "metrics with the token"
grep -q '^railyard_lab_info{lab="tls"} 1$' "$work/answer" || die "other metrics"
code=$(sed -n 's/.*#code=//p' "$work/up.txt")
curl -s --cacert "$work/ours.pem" -D "$work/head" -o /dev/null -H "Origin: https://localhost:$page" -d "{\"code\": \"$code\"}" "https://localhost:$page/v1/session"
grep -qi '^set-cookie: .*HttpOnly; SameSite=Strict; Secure' "$work/head" || die "the cookie: $(grep -i set-cookie "$work/head")"
curl -sN --max-time 2 --cacert "$work/ours.pem" -H "Authorization: Bearer $token" "https://localhost:$page/v1/events" >"$work/events" || true
grep -q '^event: hello' "$work/events" || die "no events"
[[ $(get --cacert "$work/other.pem" "https://localhost:$page/") == 000 ]] || die "curl took another certificate"
[[ $(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$page/" || true) != 200 ]] || die "it answers without TLS"
[[ $(get --tls-max 1.1 "https://localhost:$page/" || true) == 000 ]] || die "it speaks TLS 1.1"
"$railyard" status >/dev/null || die "the socket does not answer"
echo "ok    page, API, events and metrics over TLS, by the token"
