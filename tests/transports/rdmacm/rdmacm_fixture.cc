#include "tests/transports/rdmacm/rdmacm_fixture.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "transports/verbs/abi.h"
#include "transports/verbs/management.h"

extern "C" railyard::verbs::Management* railyard_management_of(ibv_context* context, std::uint32_t version);

namespace railyard::verbs::abi {
namespace {
const DeviceOps* provider = nullptr;
}
// In libibverbs' place: the provider says here what it can do.
void verbs_register_driver_34(const DeviceOps* ops) { provider = ops; }
}  // namespace railyard::verbs::abi

namespace railyard::rdmacm {
namespace {

// As libibverbs has a device whose folder it has found.
ibv_context* open_nic(const std::string& folder, const std::string& socket) {
  std::filesystem::create_directories(folder + "/railyard");
  std::ofstream(folder + "/railyard/socket") << socket;
  std::ofstream(folder + "/railyard/host") << "h1";
  std::ofstream(folder + "/railyard/nic") << "1";
  verbs::abi::Device* const device = verbs::abi::provider->alloc_device(nullptr);
  device->ops = verbs::abi::provider;
  std::strcpy(device->device.name, "railyard0");
  std::strncpy(device->device.ibdev_path, folder.c_str(), sizeof device->device.ibdev_path - 1);
  return ::ibv_open_device(&device->device);
}

}  // namespace

verbs::FakeLab& lab() {
  static auto* const made = [] {
    auto* const fake = new verbs::FakeLab;
    char folder[] = "/tmp/railyard-rdmacm-XXXXXX";
    const std::string root = ::mkdtemp(folder);
    for (int nic = 0; nic < 2; ++nic) {
      ibv_context* const context = open_nic(root + "/" + std::to_string(nic), fake->socket());
      if (context == nullptr) std::abort();
      add_device(context, *railyard_management_of(context, verbs::kManagementVersion));
    }
    std::filesystem::remove_all(root);
    return fake;
  }();
  return *made;
}

}  // namespace railyard::rdmacm
