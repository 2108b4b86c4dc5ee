#include "control/lab/cable.h"

#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/lab/open_port.h"
#include "control/lab/pci_address.h"
#include "control/spec/suggest.h"
#include "dataplane/packet/pool.h"
#include "dataplane/run/eal.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard::lab {
namespace {

// What is to be opened for a name.
struct Named {
  std::string said;
  spec::NicSpec nic;
  Interfaces made;
  bool is_pci = false;
};

spec::PortName place(std::size_t i) { return {fmt::format("port {}", i == 0 ? "A" : "B"), 1}; }

Named interface(const std::string& said, const std::string& name, std::size_t i) {
  Named n{.said = said, .nic = {}, .made = {}};
  const std::size_t at = name.find('@');
  if (at == name.npos) {
    n.nic.attach = spec::AttachNetdev{name};
  } else {
    n.nic.attach = spec::AttachNamespace{};
    n.made[place(i)] = {.netns = name.substr(at + 1), .name = name.substr(0, at), .socket = {}};
  }
  return n;
}

Named named(const std::string& said, std::size_t i) {
  const std::map<std::string, std::function<spec::Attachment(const std::string&)>> kinds{
      {"tap", [](const std::string& v) { return spec::AttachTap{v}; }},
      {"dpdk", [](const std::string& v) { return spec::AttachDpdk{v}; }},
      {"vhost-user",
       [](const std::string& v) {
         return spec::AttachVhostUser{v, false};
       }},
      {"vhost-user-client",
       [](const std::string& v) {
         return spec::AttachVhostUser{v, true};
       }},
      {"memif",
       [](const std::string& v) {
         return spec::AttachMemif{v, false, 0};
       }},
      {"memif-client", [](const std::string& v) {
         return spec::AttachMemif{v, true, 0};
       }}};
  Named n{.said = said, .nic = {}, .made = {}};
  if (is_pci_address(said)) {
    n.nic.attach = spec::AttachDpdk{said};
    n.is_pci = true;
    return n;
  }
  const std::size_t colon = said.find(':');
  if (colon == said.npos) return interface(said, said, i);
  const std::string kind = said.substr(0, colon);
  const std::string value = said.substr(colon + 1);
  if (value.empty()) throw std::invalid_argument(fmt::format("'{}': missing value after '{}:'", said, kind));
  if (kind == "netdev") return interface(said, value, i);
  const auto found = kinds.find(kind);
  if (found == kinds.end()) {
    std::vector<std::string> names{"netdev"};
    for (const auto& [name, make] : kinds) names.push_back(name);
    const std::string hint = spec::did_you_mean(kind, names);
    throw std::invalid_argument(fmt::format(
        "'{}': there is no kind of port '{}'{}", said, kind,
        hint.empty() ? fmt::format("; expected an interface, a PCI address, or one of {}:", fmt::join(names, ":, "))
                     : hint));
  }
  n.nic.attach = found->second(value);
  n.is_pci = kind == "dpdk" && is_pci_address(value);
  return n;
}

// An open port; a file that it has made goes with it.
class Open {
 public:
  Open(const Named& n, std::size_t i, std::uint32_t mtu, PacketPool& pool) {
    try {
      opened_ = open_port(place(i), n.nic, mtu, n.made, pool);
    } catch (const std::runtime_error& error) {
      throw std::runtime_error(fmt::format("{}: {}", n.said, error.what()));
    }
  }
  ~Open() {
    opened_.port.reset();
    std::error_code ignored;
    if (!opened_.socket.empty()) std::filesystem::remove(opened_.socket, ignored);
  }
  Open(const Open&) = delete;
  Open& operator=(const Open&) = delete;

  OutsidePort& port() const { return *opened_.port; }

 private:
  OpenedPort opened_;
};

}  // namespace

CableReport test_cable(const std::string& a, const std::string& b, const CableOptions& options) {
  if (a == b) throw std::invalid_argument(fmt::format("'{}' is given twice; expected the two ends of a cable", a));
  const Named first = named(a, 0);
  const Named second = named(b, 1);
  if (!eal_started()) {
    EalConfig eal{
        .memory_mib = 512, .huge_pages = options.hugepages, .pci = first.is_pci || second.is_pci, .extra = {}};
    if (eal.pci) eal.extra = {"-a", "0000:00:00.0"};  // all others are left alone
    start_eal(eal);
  }
  constexpr std::uint32_t kUnit = 128;
  const std::uint32_t frame = options.mtu + std::uint32_t{wire::Ethernet::kOctets + wire::Vlan::kOctets};
  PacketPools pools(1,
                    {.elided_limit = 1024, .real_limit = 8192, .real_octets = (frame + 2 * kUnit - 1) / kUnit * kUnit});
  PacketPool& pool = pools[WorkerId{0}];
  const Open from(first, 0, options.mtu, pool);
  const Open to(second, 1, options.mtu, pool);
  CableReport report;
  report.abilities[0] = from.port().abilities();
  report.abilities[1] = to.port().abilities();
  CableCheckConfig config;
  config.mtu = options.mtu;
  CableCheck check(from.port(), to.port(), pool, config);
  report.link = check.wait_for_link();
  if (!report.link) return report;
  for (std::size_t i = 0; i < 2; ++i) report.ways[i] = check.check(i);
  return report;
}

}  // namespace railyard::lab
