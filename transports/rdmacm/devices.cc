#include "transports/rdmacm/devices.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <system_error>

#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <unistd.h>

namespace railyard::rdmacm {
namespace {

constexpr char kPrefix[] = "railyard";
constexpr char kProvider[] = "librailyard-rdmav34.so";

// The provider, which libibverbs has loaded: it lies beside this library, or where the environment says.
verbs::ManagementOf find_provider() {
  std::vector<std::string> paths;
  Dl_info self{};
  if (::dladdr(reinterpret_cast<void*>(&find_provider), &self) != 0 && self.dli_fname != nullptr) {
    const std::string name = self.dli_fname;
    if (const auto slash = name.rfind('/'); slash != std::string::npos)
      paths.push_back(name.substr(0, slash + 1) + kProvider);
  }
  for (const char* variable : {"RDMAV_DRIVERS", "IBV_DRIVERS"})
    if (const char* const value = ::secure_getenv(variable); value != nullptr)
      paths.push_back(std::string(value) + "-rdmav34.so");
  for (const std::string& path : paths)
    if (void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD); library != nullptr) {
      const auto found = reinterpret_cast<verbs::ManagementOf>(::dlsym(library, verbs::kManagementSymbol));
      ::dlclose(library);
      if (found != nullptr) return found;
    }
  return nullptr;
}

void complain(const char* device, const char* why) noexcept {
  std::fprintf(stderr, "railyard: no connection management on %s: %s\n", device, why);
}

std::mutex opening;
std::vector<std::unique_ptr<Device>>& all_devices() {
  static auto* const all = new std::vector<std::unique_ptr<Device>>;  // until the very end of the program
  return *all;
}

std::unique_ptr<Device> make_device(ibv_context* context, verbs::Management& management) {
  auto device = std::make_unique<Device>();
  device->context = context;
  device->management = &management;
  device->pd = ::ibv_alloc_pd(context);
  if (device->pd == nullptr) return nullptr;
  const application::NicGrant& nic = management.nic();
  for (const wire::IpAddress& a : {nic.address_v4, nic.address_v6})
    if (a != wire::IpAddress{}) device->addresses.push_back(a);
  device->cm = std::make_unique<CmNic>(*device);
  const std::lock_guard lock(management.mutex());
  management.start(*device->cm);
  return device;
}

std::unique_ptr<Device> open(ibv_device* named) {
  ibv_context* const context = ::ibv_open_device(named);  // says on standard error why it cannot be
  if (context == nullptr) return nullptr;
  const verbs::ManagementOf management_of = find_provider();
  verbs::Management* const management =
      management_of != nullptr ? management_of(context, verbs::kManagementVersion) : nullptr;
  if (management == nullptr) {
    complain(::ibv_get_device_name(named), "librailyard-rdmav34.so is of another build than librailyard-rdmacm.so");
    ::ibv_close_device(context);
    errno = EPROTO;
    return nullptr;
  }
  try {
    return make_device(context, *management);
  } catch (const std::system_error& error) {
    complain(::ibv_get_device_name(named), error.what());
    errno = error.code().value();
    return nullptr;
  }
}

// A program that ends without a word is missed by its peers, as the kernel sees to.
void at_exit() {
  for (const auto& device : all_devices()) {
    const std::unique_lock lock(device->management->mutex(), std::try_to_lock);
    if (!lock.owns_lock()) continue;  // another thread of the program, which will not go on
    device->cm->abandon_all(device->management->now());
    device->management->run();
    device->management->stop();
  }
}

void open_all() {
  int count = 0;
  ibv_device** const list = ::ibv_get_device_list(&count);
  if (list == nullptr) return;
  std::vector<ibv_device*> ours;
  for (int i = 0; i < count; ++i)
    if (std::strncmp(list[i]->name, kPrefix, sizeof kPrefix - 1) == 0) ours.push_back(list[i]);
  std::ranges::sort(ours, {}, [](const ibv_device* d) { return std::string(d->name); });
  for (ibv_device* const d : ours)
    if (auto device = open(d)) all_devices().push_back(std::move(device));
  ::ibv_free_device_list(list);
  if (!all_devices().empty()) std::atexit(at_exit);
}

unsigned common_bits(const wire::IpAddress& a, const wire::IpAddress& b) noexcept {
  unsigned bits = 0;
  for (std::size_t i = 0; i < a.octets.size(); ++i, bits += 8)
    if (const auto differ = static_cast<std::uint8_t>(a.octets[i] ^ b.octets[i]); differ != 0)
      return bits + static_cast<unsigned>(std::countl_zero(differ));
  return bits;
}

}  // namespace

int Device::gid_index(const wire::IpAddress& address) const noexcept {
  const auto found = std::ranges::find(addresses, address);
  return found == addresses.end() ? -1 : static_cast<int>(found - addresses.begin());
}

const std::vector<std::unique_ptr<Device>>& devices() {
  const std::lock_guard lock(opening);
  if (all_devices().empty()) {
    errno = ENODEV;
    open_all();
  }
  return all_devices();
}

Device* add_device(ibv_context* context, verbs::Management& management) {
  auto device = make_device(context, management);
  if (device == nullptr) return nullptr;
  const std::lock_guard lock(opening);
  all_devices().push_back(std::move(device));
  return all_devices().back().get();
}

Device* device_with(const wire::IpAddress& address) {
  for (const auto& d : devices())
    if (d->gid_index(address) >= 0) return d.get();
  return nullptr;
}

// With several rails the one whose address has most in common with the peer's: rails have subnets of their own.
Device* device_to(const wire::IpAddress& peer) {
  Device* best = nullptr;
  unsigned most = 0;
  for (const auto& d : devices())
    for (const wire::IpAddress& own : d->addresses) {
      if (own.is_v4() != peer.is_v4()) continue;
      const unsigned bits = common_bits(own, peer);
      if (best != nullptr && bits <= most) continue;
      best = d.get();
      most = bits;
    }
  return best;
}

}  // namespace railyard::rdmacm
