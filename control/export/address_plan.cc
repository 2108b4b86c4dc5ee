#include <map>

#include <fmt/format.h>

#include "control/export/export.h"
#include "control/spec/interface_name.h"
#include "control/spec/link_ends.h"
#include "control/spec/value.h"

namespace railyard::exporting {
namespace {

std::string text(const std::optional<wire::IpAddress>& address) { return address ? to_string(*address) : std::string{}; }

}  // namespace

std::string address_plan(const spec::Lab& lab) {
  const std::map<spec::PortName, spec::LinkEnd> ends = spec::link_ends(lab);
  std::string out = "node,port,interface,peer,mac,ipv4,ipv6,rate_bps,mtu\n";
  for (const spec::NodeSpec& node : lab.nodes) {
    if (node.kind == spec::NodeSpec::Kind::kSwitch)
      out += fmt::format("{},lo,lo,,,{},{},,\n", node.name, text(node.loopback_v4), text(node.loopback_v6));
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const spec::NicSpec& nic = node.nics[i];
      const int port = static_cast<int>(i) + 1;
      const auto end = ends.find({node.name, port});
      out += fmt::format("{},{},{},{},{},{},{},", node.name, port, spec::interface_name(lab, node, port),
                         end == ends.end() ? std::string{} : spec::format(end->second.peer),
                         nic.mac ? to_string(*nic.mac) : std::string{}, text(nic.address_v4), text(nic.address_v6));
      out += end == ends.end() ? ",\n" : fmt::format("{},{}\n", end->second.link->rate.bps, end->second.link->mtu);
    }
  }
  return out;
}

}  // namespace railyard::exporting
