#include "control/daemon/application_nics.h"

#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "control/build/device_settings.h"
#include "control/build/roce_nics.h"
#include "control/build/uet_nics.h"
#include "control/spec/addresses.h"
#include "control/spec/link_ends.h"
#include "control/spec/value.h"

namespace railyard::daemon {
namespace {

// Of the links of all NICs for applications: what any of them may be sent.
struct Slowest {
  std::uint32_t mtu = ~std::uint32_t{0};
  BitRate rate{std::numeric_limits<std::int64_t>::max()};
};

// What a sender may send in wall time.
BitRate wall_rate(const spec::Lab& lab, const spec::LinkSpec& link) noexcept {
  return {static_cast<std::int64_t>(static_cast<Int128>(link.rate.bps) * lab.run.scale_numerator /
                                    lab.run.scale_denominator)};
}

void set_link(const spec::Lab& lab, const spec::LinkEnd& end, const Slowest& slowest, ApplicationNic& nic) {
  const spec::LinkSpec& link = *end.link;
  nic.grant.mtu = static_cast<std::uint32_t>(link.mtu);
  nic.grant.rate = wall_rate(lab, link);
  nic.grant.next_hop = spec::port_mac(lab, end.peer);
  const Framing framing = build::framing_of_frames(lab, nic.name, link.framing);
  nic.settings = build::RoceNics::application_settings(lab, nic.name, nic.grant.rate, framing);
  nic.uet_settings = build::UetNics::application_settings(lab, nic.name, slowest.rate, framing, slowest.mtu);
}

bool is_applications(const spec::Lab& lab, const spec::PortName& name) {
  const spec::NodeSpec* const node = lab.find(name.node);
  const auto nic = static_cast<std::size_t>(name.port) - 1;
  return node != nullptr && nic < node->nics.size() &&
         std::holds_alternative<spec::AttachApplication>(node->nics[nic].attach);
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
  const std::map<spec::PortName, spec::LinkEnd> ends = spec::link_ends(lab);
  Slowest slowest;
  for (const auto& [name, end] : ends) {
    if (!is_applications(lab, name)) continue;
    slowest.mtu = std::min(slowest.mtu, static_cast<std::uint32_t>(end.link->mtu));
    slowest.rate = std::min(slowest.rate, wall_rate(lab, *end.link));
  }
  std::vector<ApplicationNic> out;
  for (const spec::NodeSpec& node : lab.nodes) {
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const spec::NicSpec& nic = node.nics[i];
      if (!std::holds_alternative<spec::AttachApplication>(nic.attach)) continue;
      ApplicationNic a{.name = {node.name, static_cast<int>(i) + 1}};
      a.grant.uet.job_id = static_cast<std::uint32_t>(lab.hosts.at(node.profile).uet.job_id);
      a.grant.mac = nic.mac.value_or(wire::MacAddress{});
      a.grant.address_v4 = nic.address_v4.value_or(wire::IpAddress{});
      a.grant.address_v6 = nic.address_v6.value_or(wire::IpAddress{});
      const spec::QosProfile& qos = lab.qos.at(lab.hosts.at(node.profile).qos);
      for (std::size_t d = 0; d < a.grant.dscp_to_class.size(); ++d)
        a.grant.dscp_to_class[d] = static_cast<std::uint8_t>(qos.class_of_untagged(static_cast<int>(d)));
      if (const auto end = ends.find(a.name); end != ends.end()) set_link(lab, end->second, slowest, a);
      out.push_back(a);
    }
  }
  return out;
}

std::vector<std::pair<wire::IpAddress, std::string>> host_names(const spec::Lab& lab) {
  std::vector<std::pair<wire::IpAddress, std::string>> out;
  for (const spec::NodeSpec& node : lab.nodes)
    for (std::size_t i = 0; i < node.nics.size(); ++i)
      for (const auto& address : {node.nics[i].address_v4, node.nics[i].address_v6})
        if (address)
          out.emplace_back(*address, fmt::format("{} {}", node.name,
                                                 spec::format(spec::PortName{node.name, static_cast<int>(i) + 1})));
  return out;
}

}  // namespace railyard::daemon
