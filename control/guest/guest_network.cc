#include "control/guest/guest_network.h"

#include <fmt/format.h>

namespace railyard::guest {
namespace {

constexpr std::size_t kFirstTable = 101;

std::string prefix_text(const wire::IpPrefix& prefix) {
  return prefix.is_v4() ? fmt::format("{}/{}", to_string(prefix.address), prefix.length - 96)
                        : fmt::format("{}/{}", to_string(prefix.address), prefix.length);
}

// "via 10.255.0.1 dev eth0 onlink src 10.0.0.1"
std::string way(const std::string& dev, const std::optional<wire::IpAddress>& gateway,
                const std::optional<wire::IpAddress>& source) {
  std::string text =
      gateway ? fmt::format("via {} dev {} onlink", to_string(*gateway), dev) : fmt::format("dev {}", dev);
  if (source) text += fmt::format(" src {}", to_string(*source));
  return text;
}

}  // namespace

std::string ip_batch(const GuestNetwork& network) {
  std::string out;
  const auto add = [&]<class... T>(fmt::format_string<T...> text, T&&... values) {
    out += fmt::format(text, std::forward<T>(values)...) + '\n';
  };
  for (std::size_t i = 0; i < network.nics.size(); ++i) {
    const GuestNic& nic = network.nics[i];
    const std::string dev = fmt::format("eth{}", i);
    add("link set dev {} mtu {}", dev, nic.mtu);
    // Before the link is up, so that the kernel announces the addresses then.
    if (nic.address_v4) add("address add {}/32 dev {}", to_string(*nic.address_v4), dev);
    add("link set dev {} up", dev);
    if (nic.address_v6) add("address add {}/128 dev {} nodad", to_string(*nic.address_v6), dev);
  }
  for (std::size_t i = 0; i < network.nics.size(); ++i) {
    const GuestNic& nic = network.nics[i];
    const std::string dev = fmt::format("eth{}", i);
    const std::string way_v4 = way(dev, nic.gateway_v4, nic.address_v4);
    const std::string way_v6 = way(dev, nic.gateway_v6, nic.address_v6);
    for (const wire::IpPrefix& route : nic.routes)
      if (route.is_v4() ? nic.address_v4.has_value() : nic.address_v6.has_value())
        add("route add {} {}", prefix_text(route), route.is_v4() ? way_v4 : way_v6);
    if (network.nics.size() == 1) continue;
    const std::size_t table = kFirstTable + i;
    if (nic.address_v4) {
      add("route add 0.0.0.0/0 {} table {}", way_v4, table);
      add("rule add from {}/32 table {}", to_string(*nic.address_v4), table);
    }
    if (nic.address_v6) {
      add("route add ::/0 {} table {}", way_v6, table);
      add("rule add from {}/128 table {}", to_string(*nic.address_v6), table);
    }
  }
  return out;
}

std::string hosts_text(const GuestNetwork& network) {
  std::string out;
  for (const auto& [address, name] : network.hosts) out += fmt::format("{} {}\n", to_string(address), name);
  return out;
}

}  // namespace railyard::guest
