// The keys of trunks: links to another daemon.
#include <fmt/format.h>

#include "control/spec/keys/keys.h"

namespace railyard::spec {
namespace {

constexpr int kLeastPortMtu = 576;  // of a link, too; above kLeastTrunkMtu (trunk/fragment.h)

// A key of the trunk that stands in its node directly.
template <class M>
Key<NodeSpec> of_trunk(std::string name, M TrunkSpec::*member, Form<M> form, std::string description) {
  return {std::move(name),
          std::move(description),
          [=](const Tree& tree, NodeSpec& into) { into.trunk.*member = form.read(tree); },
          [=](const NodeSpec& node) { return form.write(node.trunk.*member); },
          [=](const NodeSpec& a, const NodeSpec& b) { return a.trunk.*member == b.trunk.*member; },
          form.schema};
}

template <class M>
Key<NodeSpec> of_trunk(std::string name, std::optional<M> TrunkSpec::*member, Form<M> form, std::string description) {
  return of_trunk(std::move(name), member, maybe(std::move(form)), std::move(description));
}

void check_carrier(const Tree& map, const NodeSpec& node) {
  const bool port = map.find("attach") != nullptr;
  if (!node.trunk.udp && !port) map.fail("neither udp nor attach; expected one of them");
  if (node.trunk.udp && port) map.at_or_self("attach").fail("found with udp; expected one of the two");
  if (node.trunk.port_mtu && !port) map.at_or_self("port-mtu").fail("found with udp; expected it with attach only");
}

void check_udp(const Tree& map, const TrunkUdp& udp) {
  if (udp.local.address.is_v4() != udp.remote.address.is_v4())
    map.at_or_self("remote").fail(fmt::format("{} and {} have different families; expected both IPv4 or both IPv6",
                                              to_string(udp.remote), to_string(udp.local)));
  if (udp.local == udp.remote)
    map.at_or_self("remote").fail(
        fmt::format("{} is the local end; expected the other daemon's", to_string(udp.remote)));
}

}  // namespace

const Table<TrunkUdp>& trunk_udp_keys() {
  static const Table<TrunkUdp> table{
      "trunk-udp",
      "A trunk over UDP",
      {key("local", &TrunkUdp::local, udp_endpoint(), "local address and port").require(),
       key("remote", &TrunkUdp::remote, udp_endpoint(), "address and port of the remote daemon's end").require()},
      check_udp};
  return table;
}

const Table<NodeSpec>& trunk_node_keys() {
  static const Table<NodeSpec> table{
      "trunk",
      "The remote end of a link whose other half runs in another daemon",
      {key("kind", &NodeSpec::kind, choice<NodeSpec::Kind>({{"trunk", NodeSpec::Kind::kTrunk}}), "trunk")
           .show()
           .without_default(),
       of_trunk("udp", &TrunkSpec::udp, map_of(trunk_udp_keys()),
                "path to the other daemon over IP; alternative: attach"),
       of_trunk("attach", &TrunkSpec::attach, port_attachment_form(),
                "port that leads to the other daemon through cables and Ethernet switches; alternative: udp"),
       of_trunk("port-mtu", &TrunkSpec::port_mtu, integer(kLeastPortMtu, 65535),
                "attach: maximum Ethernet payload on the path in bytes; default: that of the port"),
       of_trunk("networks", &TrunkSpec::networks, one_or_list_of(ip_prefix()), "prefixes of addresses beyond the trunk")
           .require(),
       of_trunk("timeout", &TrunkSpec::timeout,
                duration(Duration{50'000'000'000}, Duration{kPicosecondsPerSecond * 60}),
                "the link goes down when the other end has been silent for this time"),
       key("role", &NodeSpec::role, text_without_control_characters(63), "role shown in diagrams")},
      check_carrier};
  return table;
}

}  // namespace railyard::spec
