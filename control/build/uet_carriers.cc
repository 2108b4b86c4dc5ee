#include "control/build/uet_carriers.h"

#include <algorithm>

#include "dataplane/wire/ip_protocol.h"

namespace railyard::build {

std::vector<uet::Carrier> uet_carriers(const spec::Lab& lab) {
  std::vector<uet::Carrier> all;
  const bool any = std::ranges::any_of(lab.traffic, [](const spec::TrafficSpec& t) { return t.is_uet(); }) ||
                   std::ranges::any_of(lab.collectives, [](const spec::CollectiveSpec& c) { return c.is_uet(); });
  if (!any) return all;
  for (const auto& [name, host] : lab.hosts) {
    const spec::UetNicSpec& s = host.uet;
    const uet::Carrier c{.udp = s.udp,
                         .number = static_cast<std::uint16_t>(s.udp ? s.udp_port : s.ip_protocol),
                         .crc = s.crc,
                         .ref_prov = s.profile == spec::UetProfile::kRefProv};
    const uet::Carrier standard{.udp = s.udp,
                                .number = s.udp ? wire::kUetPort : std::uint16_t{wire::ip_protocol::kUetNative}};
    if (c != standard && std::ranges::find(all, c) == all.end()) all.push_back(c);
  }
  return all;
}

}  // namespace railyard::build
