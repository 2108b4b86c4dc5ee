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
#include "control/spec/collective_ranks.h"
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

// What is behind a PCIe switch, from 0.
struct Behind {
  std::vector<std::size_t> gpus, nics;
};

// As the profile says: NICs that share an uplink are behind one switch, else each NIC has one; of fewer GPUs than NICs each has
// one. A GPU is behind the switch of its NIC.
std::vector<Behind> switches_of_profile(const spec::HostProfile& profile, std::size_t nics) {
  const auto gpus = static_cast<std::size_t>(*profile.gpus);
  const bool of_gpus = profile.gpu_nics.empty() && gpus < nics && nics % gpus == 0;
  const std::size_t width = profile.pcie && profile.pcie->shared_by > 1 ? static_cast<std::size_t>(profile.pcie->shared_by)
                            : of_gpus                                   ? nics / gpus
                                                                        : 1;
  std::vector<Behind> all((nics + width - 1) / width);
  for (std::size_t nic = 0; nic < nics; ++nic) all[nic / width].nics.push_back(nic);
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    const int nic = spec::gpu_nic(profile, nics, static_cast<int>(gpu) + 1);
    all[static_cast<std::size_t>(nic - 1) / width].gpus.push_back(gpu);
  }
  return all;
}

// Spread evenly: a switch for each GPU with its NICs, or for each NIC with its GPUs; or fewer, where NICs share an uplink.
std::vector<Behind> even_switches(const std::optional<spec::PcieSpec>& pcie, std::size_t nics, std::size_t gpus) {
  std::size_t groups = std::min(gpus, nics);
  if (pcie && pcie->shared_by > 1 && nics % static_cast<std::size_t>(pcie->shared_by) == 0) {
    const std::size_t shared = nics / static_cast<std::size_t>(pcie->shared_by);
    if (shared < groups && gpus % shared == 0) groups = shared;
  }
  std::vector<Behind> all(groups);
  for (std::size_t nic = 0; nic < nics; ++nic) all[nic / (nics / groups)].nics.push_back(nic);
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) all[gpu / (gpus / groups)].gpus.push_back(gpu);
  return all;
}

// GPUs of a host: as asked for, as its profile says, or one per NIC.
std::size_t gpus_of(const spec::Lab& lab, const spec::NodeSpec& host, const Options& options) {
  if (options.gpus > 0) return static_cast<std::size_t>(options.gpus);
  const std::optional<int>& gpus = lab.hosts.at(host.profile).gpus;
  return gpus ? static_cast<std::size_t>(*gpus) : host.nics.size();
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
  const spec::HostProfile& profile = lab.hosts.at(host.profile);
  const std::size_t nics = host.nics.size();
  const std::size_t gpus = gpus_of(lab, host, options);
  const bool by_profile = options.gpus == 0 && profile.gpus;
  if (!by_profile && std::max(gpus, nics) % std::min(gpus, nics) != 0)
    throw InputError(fmt::format("--gpus {}: {} has {} NICs; expected a multiple or a divisor", gpus, host.name, nics));
  std::size_t gpus_before = 0;
  for (const spec::NodeSpec& node : lab.nodes) {
    if (&node == &host) break;
    if (is_host(node) && !node.reduces) gpus_before += gpus_of(lab, node, options);
  }
  const std::optional<spec::PcieSpec>& pcie = profile.pcie;
  const std::vector<Behind> switches = by_profile ? switches_of_profile(profile, nics) : even_switches(pcie, nics, gpus);
  const auto ends = spec::link_ends(lab);
  const auto& scale_up = profile.scale_up;

  Document out;
  out.open("system", fmt::format("version=\"{}\" name=\"{}\"", kVersion, host.name));
  out.open("cpu", "numaid=\"0\" arch=\"x86_64\" vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"143\"");
  for (std::size_t group = 0; group < switches.size(); ++group) {
    const Behind& behind = switches[group];
    std::vector<BitRate> rates;
    for (const std::size_t nic : behind.nics) rates.push_back(ends.at({host.name, static_cast<int>(nic) + 1}).link->rate);
    // A PCI domain of its own for each switch: the buses behind it are free.
    const spec::PcieSlot fast = pcie_of(*std::ranges::max_element(rates, {}, &BitRate::bps));
    const spec::PcieSlot slot = pcie ? pcie->slot : fast;
    const spec::PcieSlot uplink = pcie ? pcie->uplink.value_or(pcie->slot) : fast;
    auto next = [group, bus = 1]() mutable { return fmt::format("{:04x}:{:02x}:00.0", group, bus++); };
    out.open_pci(next(), "0x060400", uplink);
    for (const std::size_t gpu : behind.gpus) {
      out.open_pci(next(), "0x030200", slot);
      const std::string attributes =
          fmt::format("dev=\"{}\" sm=\"{}\" rank=\"{}\" gdr=\"1\"", gpu, kComputeCapability, gpus_before + gpu);
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
      const std::size_t nic = behind.nics[i];
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
