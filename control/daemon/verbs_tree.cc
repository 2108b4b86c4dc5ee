#include "control/daemon/verbs_tree.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/daemon/device_nodes.h"

namespace railyard::daemon {
namespace {

namespace fs = std::filesystem;


void write_line_to(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream out(file);
  out << text << '\n';
  if (!out.flush()) throw std::runtime_error(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
}

// Eight groups of four digits, as sysfs writes GIDs.
std::string gid_text(const wire::IpAddress& address) {
  std::string text;
  for (std::size_t i = 0; i < address.octets.size(); i += 2)
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", address.octets[i], address.octets[i + 1]);
  return text;
}

// EUI-64 of the MAC address (RFC 4291 appendix A), which is what Linux takes for a RoCE device.
std::string guid_text(const wire::MacAddress& mac) {
  const auto& m = mac.octets;
  return fmt::format("{:02x}{:02x}:{:02x}ff:fe{:02x}:{:02x}{:02x}", m[0] ^ 2, m[1], m[2], m[3], m[4], m[5]);
}

}  // namespace

std::string verbs_device_name(int nic) { return fmt::format("railyard{}", nic - 1); }

void write_verbs_tree(const fs::path& folder, const std::vector<VerbsDevice>& devices, const std::string& socket) {
  write_line_to(folder / "class/infiniband_verbs/abi_version", "6");
  for (const VerbsDevice& d : devices) {
    const fs::path uverbs = folder / "class/infiniband_verbs" / d.name;
    write_line_to(uverbs / "ibdev", d.name);
    write_line_to(uverbs / "dev", fmt::format("{}:{}", kNodeMajor, kNodeMinor));
    write_line_to(uverbs / "abi_version", "1");
    const fs::path ib = folder / "class/infiniband" / d.name;
    write_line_to(ib / "node_type", "1: CA");
    write_line_to(ib / "node_guid", guid_text(d.mac));
    write_line_to(ib / "fw_ver", "0.1.0");
    write_line_to(ib / "board_id", "railyard");
    const fs::path port = ib / "ports/1";
    write_line_to(port / "pkeys/0", "0xffff");
    for (std::size_t i = 0; i < d.gids.size(); ++i) {
      write_line_to(port / "gids" / std::to_string(i), gid_text(d.gids[i]));
      write_line_to(port / "gid_attrs/types" / std::to_string(i), "RoCE v2");
      write_line_to(port / "gid_attrs/ndevs" / std::to_string(i), "lo");  // libibverbs wants one that exists
    }
    write_line_to(ib / "railyard/socket", socket);
    write_line_to(ib / "railyard/host", d.host);
    write_line_to(ib / "railyard/nic", std::to_string(d.nic));
  }
}

void write_host_names(const fs::path& folder, const std::vector<std::pair<wire::IpAddress, std::string>>& names) {
  std::string text = "# hosts of the lab, for rdma_cm";
  for (const auto& [address, name] : names) text += fmt::format("\n{}\t{}", wire::to_string(address), name);
  write_line_to(folder / "hosts", text);
}

}  // namespace railyard::daemon
