# Shared by the set-up scripts: the list of Debian packages and their installation.
# shellcheck shell=bash

root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)

packages_build=(g++ clang-19 lld-19 make cmake ninja-build pkg-config git ccache dpdk-dev libdpdk-dev libyaml-cpp-dev
  libfmt-dev libspdlog-dev nlohmann-json3-dev libcli11-dev libisal-dev libpcap-dev libmnl-dev libmetis-dev libboost-dev libssl-dev libncurses-dev libnlopt-dev
  libibverbs-dev librdmacm-dev libfabric-dev
  iproute2)
packages_test=(libgtest-dev libgmock-dev libbenchmark-dev jq curl iputils-ping iperf3 traceroute procps python3-jsonschema
  python3-yaml python3-pyte openssl)
# RDMA programs and libraries through a live lab
packages_verbs=(ibverbs-utils perftest rdmacm-utils rdma-core python3-pyverbs ucx-utils openmpi-bin libopenmpi-dev libgloo-dev)
packages_applications=(ibverbs-utils perftest ucx-utils openmpi-bin libopenmpi-dev libfabric-bin jq)  # quickstart.sh --applications
packages_libfabric=(libfabric-bin openmpi-bin libopenmpi-dev)  # programs of libfabric through a live lab
packages_clang=(clang-19 libclang-rt-19-dev)
packages_profile=(llvm-19)  # tools/profile.sh
packages_valgrind=(valgrind)  # tests/bench/instructions.py
packages_bench=(dpdk-dev curl)
packages_frr=(frr)  # switches with control: frr; without it these tests are skipped
packages_wireshark=(tshark)  # a second opinion on captures; tests that ask for it are skipped without it
packages_python=(python3-pandas python3-matplotlib)  # docs/python.md
packages_node=(nodejs npm)  # the live page; without them it is not built. Not where npm came in another way
packages_web=(chromium)  # its tests
packages_prometheus=(prometheus)  # tests of dashboards and alerts
packages_package=(dpkg-dev file)  # Debian packages of this
packages_softroce=(qemu-system-x86 xz-utils binutils)

say() { printf '\n==> %s\n' "$*"; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

missing_packages() { # PACKAGE...: those that are not installed
  local p
  for p in "$@"; do
    [[ $(dpkg-query -W -f='${Status}' "$p" 2>/dev/null) == 'install ok installed' ]] || printf '%s\n' "$p"
  done
}

# Lists and installs missing packages. Without root: by sudo, or prints the command to run as root.
install_packages() { # PACKAGE...
  command -v dpkg-query >/dev/null || die "this is not Debian; install the packages that the README lists"
  local missing
  mapfile -t missing < <(missing_packages "$@")
  (( ${#missing[@]} )) || return 0
  say "installing Debian packages: ${missing[*]}"
  local as=()
  if (( EUID != 0 )); then
    command -v sudo >/dev/null || die "expected root or sudo; run as root: apt-get install --no-install-recommends ${missing[*]}"
    as=(sudo)
  fi
  local apt=("${as[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq)
  if ! "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    # Old or no package lists.
    "${apt[@]}" update >/dev/null
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
  fi
}

# Number of parallel compilers: one per core, limited by memory (1.5 GB each).
jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/MemAvailable/ { print int($2 / 1572864) }' /proc/meminfo)
  (( memory >= 1 )) || memory=1
  echo $(( cores < memory ? cores : memory ))
}

# configure PRESET [CMAKE ARGUMENT...], build PRESET [TARGET...]: quiet unless it fails.
configure() {
  local preset=$1 log; shift
  log=$(mktemp)
  if ! (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1; then
    cat "$log" >&2; rm -f "$log"
    die "cmake could not configure preset $preset"
  fi
  rm -f "$log"
}
build() {
  local preset=$1; shift
  (cd "$root" && NINJA_STATUS='[%f/%t %es] ' ninja -C "build/$preset" -j "$(jobs)" --quiet "$@") || die "the build of preset $preset failed"
}
