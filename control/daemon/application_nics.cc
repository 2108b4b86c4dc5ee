#include "control/daemon/application_nics.h"

#include <algorithm>
#include <map>

#include "control/build/device_settings.h"
#include "control/build/roce_nics.h"
#include "control/spec/addresses.h"

namespace railyard::daemon {
namespace {

// What a NIC's link leads to.
wire::MacAddress mac_of(const spec::Lab& lab, const spec::PortName& port) {
  const spec::NodeSpec& node = *lab.find(port.node);
  if (node.kind == spec::NodeSpec::Kind::kHost)
    return node.nics[static_cast<std::size_t>(port.port) - 1].mac.value_or(wire::MacAddress{});
  return spec::automatic_mac(static_cast<std::size_t>(&node - lab.nodes.data()), port.port);
}

void set_link(const spec::Lab& lab, const spec::LinkSpec& link, const spec::PortName& peer, ApplicationNic& nic) {
  nic.grant.mtu = static_cast<std::uint32_t>(link.mtu);
  // What a sender may send in wall time.
  nic.grant.rate = {static_cast<std::int64_t>(static_cast<Int128>(link.rate.bps) * lab.run.scale_numerator /
                                              lab.run.scale_denominator)};
  nic.grant.next_hop = mac_of(lab, peer);
  nic.settings = build::RoceNics::application_settings(lab, nic.name, nic.grant.rate,
                                                       build::framing_of_frames(lab, nic.name, link.framing));
}

}  // namespace

VerbsDevice ApplicationNic::device() const {
  VerbsDevice d{
      .name = verbs_device_name(name.port), .host = name.node, .nic = name.port, .mac = grant.mac, .gids = {}};
  for (const wire::IpAddress& a : {grant.address_v4, grant.address_v6})
    if (a != wire::IpAddress{}) d.gids.push_back(a);
  return d;
}

std::vector<ApplicationNic> application_nics(const spec::Lab& lab) {
  std::vector<ApplicationNic> out;
  for (const spec::NodeSpec& node : lab.nodes) {
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const spec::NicSpec& nic = node.nics[i];
      if (!std::holds_alternative<spec::AttachApplication>(nic.attach)) continue;
      ApplicationNic a{.name = {node.name, static_cast<int>(i) + 1}};
      a.grant.mac = nic.mac.value_or(wire::MacAddress{});
      a.grant.address_v4 = nic.address_v4.value_or(wire::IpAddress{});
      a.grant.address_v6 = nic.address_v6.value_or(wire::IpAddress{});
      const auto& classes = lab.qos.at(lab.hosts.at(node.profile).qos).dscp_to_class;
      for (std::size_t d = 0; d < a.grant.dscp_to_class.size() && d < classes.size(); ++d)
        a.grant.dscp_to_class[d] = static_cast<std::uint8_t>(classes[d]);
      for (const spec::LinkSpec& link : lab.links) {
        if (link.a == a.name) set_link(lab, link, link.b, a);
        if (link.b == a.name) set_link(lab, link, link.a, a);
      }
      out.push_back(a);
    }
  }
  return out;
}

}  // namespace railyard::daemon
