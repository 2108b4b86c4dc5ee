// What NCCL reads of a host: its topology (NCCL_TOPO_FILE) and its devices (NCCL_IB_HCA). RDMA devices are named
// railyard0, railyard1, ... in the order of the NICs.
//
// The elements and attributes are those of NCCL's own dump (NCCL_TOPO_DUMP_FILE), version 1:
//
//   system > cpu > pci (a PCIe switch) > pci > gpu > nvlink
//                                      > pci > nic > net
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/export/export.h"
#include "control/spec/input_error.h"
#include "control/spec/link_ends.h"
#include "control/spec/value.h"

namespace railyard::exporting {
namespace {

constexpr int kVersion = 1;
constexpr int kComputeCapability = 90;  // `sm`: which rate NCCL takes an NVLink to have
constexpr std::int64_t kNvlinkBps = 200'000'000'000;  // one link of that generation, one direction
constexpr const char* kNvswitch = "ffff:01:00.0";

std::string device(std::size_t nic) { return fmt::format("railyard{}", nic); }

bool is_host(const spec::NodeSpec& node) { return node.kind == spec::NodeSpec::Kind::kHost; }

// The host of that name; without a name, the first.
const spec::NodeSpec& host_of(const spec::Lab& lab, const std::string& name) {
  const auto found = std::ranges::find_if(lab.nodes, [&](const spec::NodeSpec& node) {
    return is_host(node) && (name.empty() || node.name == name);
  });
  if (found == lab.nodes.end())
    throw InputError(name.empty() ? std::string("the lab has no hosts")
                                  : fmt::format("--node {}: the lab has no such host", name));
  return *found;
}

// PCIe of 16 lanes that is as fast as the port.
spec::PcieSlot pcie_of(BitRate port) {
  constexpr std::int64_t kGen4 = 200'000'000'000;
  constexpr std::int64_t kGen5 = 400'000'000'000;
  return {port.bps <= kGen4 ? 4 : port.bps <= kGen5 ? 5 : 6, 16};
}

// PCIe switches of a host: one for each GPU with its NICs, or for each NIC with its GPUs; or fewer, where NICs share them.
std::size_t switches_of(const std::optional<spec::PcieSpec>& pcie, std::size_t nics, std::size_t gpus) {
  const std::size_t own = std::min(gpus, nics);
  if (!pcie) return own;
  const auto shared_by = static_cast<std::size_t>(pcie->shared_by);
  if (shared_by == 1 || nics % shared_by != 0) return own;
  const std::size_t shared = nics / shared_by;
  return shared < own && gpus % shared == 0 ? shared : own;
}

// EUI-64 of the port (IEEE 802, "Guidelines for Use of EUI"), as RDMA devices have it.
std::string guid(const spec::NicSpec& nic, std::size_t number) {
  if (!nic.mac) return fmt::format("0x{:x}", number + 1);
  const auto& o = nic.mac->octets;
  return fmt::format("0x{:02x}{:02x}{:02x}fffe{:02x}{:02x}{:02x}", o[0] ^ 2, o[1], o[2], o[3], o[4], o[5]);
}

class Document {
 public:
  void open(const std::string& element, const std::string& attributes) {
    text_ += fmt::format("{:{}}<{} {}>\n", "", 2 * depth_++, element, attributes);
  }
  void open(const std::string& element) { text_ += fmt::format("{:{}}<{}>\n", "", 2 * depth_++, element); }
  void close(const std::string& element) { text_ += fmt::format("{:{}}</{}>\n", "", 2 * --depth_, element); }
  void leaf(const std::string& element, const std::string& attributes) {
    text_ += fmt::format("{:{}}<{} {}/>\n", "", 2 * depth_, element, attributes);
  }
  void open_pci(const std::string& busid, const char* device_class, spec::PcieSlot slot) {
    open("pci", fmt::format("busid=\"{}\" class=\"{}\" link_speed=\"{}.0 GT/s PCIe\" link_width=\"{}\"", busid, device_class,
                            8 << (slot.generation - 3), slot.lanes));
  }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  int depth_ = 0;
};

}  // namespace

std::string nccl_topology(const spec::Lab& lab, const Options& options) {
  const spec::NodeSpec& host = host_of(lab, options.node);
  const std::size_t nics = host.nics.size();
  const std::size_t gpus = options.gpus > 0 ? static_cast<std::size_t>(options.gpus) : nics;
  const std::optional<spec::PcieSpec>& pcie = lab.hosts.at(host.profile).pcie;
  const std::size_t groups = switches_of(pcie, nics, gpus);
  if (std::max(gpus, nics) % std::min(gpus, nics) != 0)
    throw InputError(fmt::format("--gpus {}: {} has {} NICs; expected a multiple or a divisor", gpus, host.name, nics));
  std::size_t hosts_before = 0;
  for (const spec::NodeSpec& node : lab.nodes) {
    if (&node == &host) break;
    hosts_before += is_host(node) ? 1 : 0;
  }
  const auto ends = spec::link_ends(lab);
  const auto& scale_up = lab.hosts.at(host.profile).scale_up;

  Document out;
  out.open("system", fmt::format("version=\"{}\" name=\"{}\"", kVersion, host.name));
  out.open("cpu", "numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\"");
  for (std::size_t group = 0; group < groups; ++group) {
    std::vector<BitRate> rates;
    for (std::size_t i = 0; i < nics / groups; ++i)
      rates.push_back(ends.at({host.name, static_cast<int>(group * (nics / groups) + i) + 1}).link->rate);
    // A PCI domain of its own for each switch: the buses behind it are free.
    const spec::PcieSlot fast = pcie_of(*std::ranges::max_element(rates, {}, &BitRate::bps));
    const spec::PcieSlot slot = pcie ? pcie->slot : fast;
    const spec::PcieSlot uplink = pcie ? pcie->uplink.value_or(pcie->slot) : fast;
    auto next = [group, bus = 1]() mutable { return fmt::format("{:04x}:{:02x}:00.0", group, bus++); };
    out.open_pci(next(), "0x060400", uplink);
    for (std::size_t i = 0; i < gpus / groups; ++i) {
      const std::size_t gpu = group * (gpus / groups) + i;
      out.open_pci(next(), "0x030200", slot);
      const std::string attributes =
          fmt::format("dev=\"{}\" sm=\"{}\" rank=\"{}\" gdr=\"1\"", gpu, kComputeCapability, hosts_before * gpus + gpu);
      if (scale_up) {
        out.open("gpu", attributes);
        out.leaf("nvlink", fmt::format("target=\"{}\" count=\"{}\" tclass=\"0x068000\"", kNvswitch,
                                       std::max<std::int64_t>(1, scale_up->rate.bps / kNvlinkBps)));
        out.close("gpu");
      } else {
        out.leaf("gpu", attributes);
      }
      out.close("pci");
    }
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const std::size_t nic = group * rates.size() + i;
      constexpr std::int64_t kMbps = 1'000'000;
      out.open_pci(next(), "0x020000", slot);
      out.open("nic");
      out.leaf("net", fmt::format("name=\"{}\" dev=\"{}\" latency=\"0.000000\" speed=\"{}\" port=\"1\" guid=\"{}\" "
                                  "maxconn=\"131072\" gdr=\"1\"",
                                  device(nic), nic, rates[i].bps / kMbps, guid(host.nics[nic], nic)));
      out.close("nic");
      out.close("pci");
    }
    out.close("pci");
  }
  out.close("cpu");
  out.close("system");
  return out.text();
}

std::string nccl_hca(const spec::Lab& lab, const Options& options) {
  // "=": these names and no longer ones that begin alike.
  const auto value = [](const spec::NodeSpec& host) {
    std::string text = "NCCL_IB_HCA==";
    for (std::size_t nic = 0; nic < host.nics.size(); ++nic) text += fmt::format("{}{}:1", nic == 0 ? "" : ",", device(nic));
    return text;
  };
  if (!options.node.empty()) return value(host_of(lab, options.node)) + "\n";
  std::string out;
  for (const spec::NodeSpec& node : lab.nodes)
    if (is_host(node)) out += fmt::format("{} {}\n", node.name, value(node));
  return out;
}

}  // namespace railyard::exporting
