#!/usr/bin/env bash
# demo.sh - unmodified ib_write_bw and friends between two guests with the kernel's SoftRoCE, across an emulated
# leaf-spine fabric. Installs QEMU and builds the guest image (100 MB of packages, once) if they are not there.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/common.sh
. "$here/../common.sh"
install_packages "${packages_softroce[@]}"
[[ -x $root/build/release/bin/railyard ]] || "$root/tools/quickstart.sh"
"$here/build-image.sh"
say "two guests, leaf1 and leaf2, through two spines: ibv_rc_pingpong, ib_send_bw, ib_write_bw, ib_read_bw, latencies"
"$here/through-fabric.sh" --lab "$root/topologies/softroce-pair.yaml" --nics pair --script "$here/scripts/perf.sh" "$@"
