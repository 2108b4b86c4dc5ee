#!/usr/bin/env bash
# From a fresh clone to a running fabric: installs what is missing (saying what), builds, runs an incast, says what to
# try next. Needs Debian 12; root (or sudo) only for the packages.
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

install_packages "${packages_build[@]}"
say "building railyard (two cores: about four minutes)"
[[ -f $root/build/release/CMakeCache.txt ]] || configure release -DRAILYARD_TESTS=OFF -DRAILYARD_BENCH=OFF
build release railyard

cd "$root"
say "build/release/bin/railyard run topologies/incast-8to1.yaml"
build/release/bin/railyard run topologies/incast-8to1.yaml
cat <<'MSG'

That was a lossless leaf-spine fabric in exact virtual time: eight hosts sent to one as fast as they could. The receiver's
link is the bottleneck; queues grew behind it, frames were marked CE, switches paused the ports behind them hop by hop,
and nothing was lost. Next:

  build/release/bin/railyard run topologies/incast-8to1.yaml --set qos.default.classes.3.lossless=false   # now it drops
  build/release/bin/railyard run topologies/incast-8to1.yaml --capture leaf1:1=incast.pcapng              # for Wireshark
  build/release/bin/railyard check topologies/permutation-128.yaml                                        # headroom, windows
  build/release/bin/railyard run topologies/permutation-128.yaml --digest --workers 2                     # same on any number
  tools/softroce/demo.sh                                               # ib_write_bw between real RoCEv2 hosts, through it
MSG
