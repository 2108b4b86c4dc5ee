// One guest: what it is and where its files are.
#pragma once

#include <filesystem>
#include <string>

#include "control/guest/guest_image.h"
#include "control/guest/guest_network.h"

namespace railyard::guest {

enum class Accelerator {
  kAuto,  // KVM, and if the guest does not come up with it, TCG
  kKvm,
  kTcg,  // software emulation: everywhere, and much slower
};

// $RAILYARD_SOFTROCE_ACCEL: "kvm" or "tcg"; kAuto if it is not set. Throws GuestError for anything else.
Accelerator default_accelerator();

// $RAILYARD_SOFTROCE_QEMU, else qemu-system-x86_64, looked for in PATH.
std::string default_qemu();

struct VmConfig {
  GuestNetwork network{};             // network.hostname is the guest's name
  std::filesystem::path directory{};  // of its sockets and logs (guest_files.h); made if it is not there
  std::filesystem::path image = default_image_directory();
  int memory_mib = 256;  // at least 128
  int cpus = 1;
  bool rdma = true;  // an rxe device on each NIC
  Accelerator accelerator = default_accelerator();
  std::string qemu = default_qemu();
};

}  // namespace railyard::guest
