// The NICs of the emulated host that this program was started for: libibverbs' tree has them (SYSFS_PATH), for both
// libraries.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "transports/libfabric/objects.h"

namespace railyard::libfabric {
namespace {

namespace fs = std::filesystem;

std::string line_of(const fs::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

}  // namespace

std::vector<Device> devices() {
  std::vector<Device> found;
  const char* const tree = std::getenv("SYSFS_PATH");
  if (tree == nullptr) return found;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(fs::path(tree) / "class/infiniband", error)) {
    const fs::path folder = entry.path() / "railyard";
    Device d{.name = entry.path().filename(), .socket = line_of(folder / "socket"), .host = line_of(folder / "host")};
    const unsigned long nic = std::strtoul(line_of(folder / "nic").c_str(), nullptr, 10);
    if (d.socket.empty() || d.host.empty() || nic == 0 || nic > 0xFFFF) continue;  // somebody else's
    d.nic = static_cast<std::uint32_t>(nic);
    found.push_back(std::move(d));
  }
  std::ranges::sort(found, {}, &Device::nic);
  return found;
}

}  // namespace railyard::libfabric
