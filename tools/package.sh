#!/usr/bin/env bash
# Builds the Debian packages railyard and railyard-softroce into build/release/packages.
#
# usage: tools/package.sh
set -euo pipefail
. "$(dirname -- "${BASH_SOURCE[0]}")/common.sh"

install_packages "${packages_build[@]}" "${packages_package[@]}"
[[ -f $root/build/release/CMakeCache.txt ]] || configure release -DRAILYARD_TESTS=OFF -DRAILYARD_BENCH=OFF
build release railyard
rm -rf "$root/build/release/packages"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
(cd "$root/build/release" && cpack --config CPackConfig.cmake) >"$log" 2>&1 || { cat "$log" >&2; die "cpack failed"; }
ls "$root"/build/release/packages/*.deb
