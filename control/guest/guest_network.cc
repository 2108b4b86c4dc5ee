#include "control/guest/guest_network.h"

#include <fmt/format.h>

namespace railyard::guest {
namespace {

constexpr std::size_t kFirstTable = 1000;  // of NIC k: this + k, as in namespaces

std::string prefix_text(const wire::IpPrefix& prefix) {
  return prefix.is_v4() ? fmt::format("{}/{}", to_string(prefix.address), prefix.length - 96)
                        : fmt::format("{}/{}", to_string(prefix.address), prefix.length);
}

}  // namespace

std::string ip_batch(const GuestNetwork& network, IpFamily family) {
  const bool v4 = family == IpFamily::kV4;
  const int whole = v4 ? 32 : 128;
  std::string out;
  const auto add = [&]<class... T>(fmt::format_string<T...> text, T&&... values) {
    out += fmt::format(text, std::forward<T>(values)...) + '\n';
  };
  for (std::size_t i = 0; i < network.nics.size(); ++i) {
    const GuestNic& nic = network.nics[i];
    const std::size_t port = i + 1;
    if (v4) add("link set dev eth{} mtu {}", port, nic.mtu);
    // Before the link is up, so that the kernel announces the address then.
    if (const auto& address = v4 ? nic.address_v4 : nic.address_v6)
      add("address add {}/{} dev eth{}", to_string(*address), whole, port);
    if (v4) add("link set dev eth{} up", port);
  }
  for (std::size_t i = 0; i < network.nics.size(); ++i) {
    const GuestNic& nic = network.nics[i];
    const std::size_t port = i + 1;
    const auto& address = v4 ? nic.address_v4 : nic.address_v6;
    const auto& gateway = v4 ? nic.gateway_v4 : nic.gateway_v6;
    if (!address) continue;
    std::string way =
        gateway ? fmt::format("via {} dev eth{} onlink", to_string(*gateway), port) : fmt::format("dev eth{}", port);
    // IPv6 takes the address of the NIC by itself (RFC 6724 rule 5), and may not be told one that is still tentative.
    if (v4) way += fmt::format(" src {}", to_string(*address));
    for (const wire::IpPrefix& route : nic.routes)
      if (route.is_v4() == v4) add("route add {} {}", prefix_text(route), way);
    if (network.nics.size() == 1) continue;
    add("route add {} {} table {}", v4 ? "0.0.0.0/0" : "::/0", way, kFirstTable + port);
    add("rule add from {}/{} table {}", to_string(*address), whole, kFirstTable + port);
  }
  return out;
}

std::string hosts_text(const GuestNetwork& network) {
  std::string out;
  for (const auto& [address, name] : network.hosts) out += fmt::format("{} {}\n", to_string(address), name);
  return out;
}

}  // namespace railyard::guest
