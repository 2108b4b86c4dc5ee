# shellcheck shell=bash
# Sourced by run.sh: TCP between two hosts in namespaces, in turn with a bare veth pair; what idle workers cost.

# seconds of a process's CPU time so far, in ticks
lab_ticks() { awk '{ print $14 + $15 }' "/proc/$("$railyard" ls --json | jq '.[0].pid')/stat"; }

# gbps COMMAND...: an iperf3 client, 5 s, its result in Gb/s. CUBIC: other kernels have other defaults.
gbps() { "$@" iperf3 -c "$server" -t 5 -C cubic -J | jq '.end.sum_received.bits_per_second / 1e9'; }

# The same two kernels without a fabric: what is possible on this machine at most.
bare_veth() { # MTU
  local a=ry-bench-a b=ry-bench-b
  ip netns add "$a"; ip netns add "$b"
  ip link add eth1 netns "$a" mtu "$1" type veth peer name eth1 mtu "$1" netns "$b"
  ip -n "$a" addr add 10.99.0.1/24 dev eth1; ip -n "$b" addr add 10.99.0.2/24 dev eth1
  ip -n "$a" link set eth1 up; ip -n "$b" link set eth1 up
  ip netns exec "$b" iperf3 -s -D -1; sleep 0.5
  server=10.99.0.2 gbps ip netns exec "$a"
  ip netns del "$a"; ip netns del "$b"
}

live_iperf() { # OPTION...
  "$railyard" up "$here/live-speed.yaml" "$@" --detach >/dev/null
  "$railyard" exec h2 -- iperf3 -s -D >/dev/null; sleep 0.5
  server=h2 gbps "$railyard" exec h1 --
  "$railyard" status --json | jq '.engine.lateness_ns.p99 / 1000' >>"$work/late"
  "$railyard" down >/dev/null
}

# polling_cost POLICY: per cent of a core without traffic; with a ping each 10 ms; lateness p99 (us) with the pings
polling_cost() {
  local was
  "$railyard" up "$here/live-speed.yaml" --set "run.polling=$1" --detach >/dev/null
  sleep 1; was=$(lab_ticks); sleep 5
  echo $(( $(lab_ticks) - was )) | awk -v hz="$(getconf CLK_TCK)" '{ print $1 / hz / 5 * 100 }' >>"$work/idle"
  was=$(lab_ticks)
  "$railyard" exec h1 -- ping -q -i 0.01 -c 500 -4 h2 | awk -F/ '/^rtt/ { print $5 }' >>"$work/rtt"
  echo $(( $(lab_ticks) - was )) | awk -v hz="$(getconf CLK_TCK)" '{ print $1 / hz / 5 * 100 }' >>"$work/pings"
  "$railyard" status --json | jq '.engine.lateness_ns.p99 / 1000' >>"$work/late"
  "$railyard" down >/dev/null
}

live_speed_bench() {
  printf '\nLive speed: TCP between two namespaces, two leaves and a spine between them, in turn with a bare veth pair\n'
  export RAILYARD_STATE_DIR=$work/state
  local mtu policy i
  for mtu in 9216 1500; do
    rm -f "$work/late" "$work/veth" "$work/lab"
    for (( i = 0; i < runs; ++i )); do
      bare_veth "$mtu" >>"$work/veth"
      live_iperf --set "defaults.link.mtu=$mtu" >>"$work/lab"
    done
    cp "$work/lab" "$work/figures"; row "  iperf3, one connection, MTU $mtu" Gb/s -
    cp "$work/late" "$work/figures"; row '  ... lateness p99' us -
    cp "$work/veth" "$work/figures"; row '  ... without a fabric' Gb/s -
  done
  for policy in latency balanced idle; do
    rm -f "$work/idle" "$work/pings" "$work/late" "$work/rtt"
    for (( i = 0; i < runs; ++i )); do polling_cost "$policy"; done
    cp "$work/idle" "$work/figures"; row "  polling $policy: CPU without traffic" '% of a core' -
    cp "$work/pings" "$work/figures"; row '  ... with 100 pings a second' '% of a core' -
    cp "$work/rtt" "$work/figures"; row '  ... their round trip' ms -
    cp "$work/late" "$work/figures"; row '  ... lateness p99' us -
  done
}
