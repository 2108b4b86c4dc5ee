#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/control/spec/random_parts.h"

namespace railyard::spec {
namespace {

// `n`: makes what is attached unique.

Attachment random_attachment(Chance& chance, Clock clock, const std::string& n) {
  switch (clock == Clock::kWall ? chance.integer(0, 5) : 0) {
    case 0:
      return AttachPcap{chance.one_in(2) ? "in " + n : "", "out: #" + n, chance.one_in(2)};
    case 1:
      return AttachVhostUser{"/tmp/" + n + ".sock", chance.one_in(2)};
    case 2:
      return AttachTap{"tap" + n};
    case 3:
      return AttachNetdev{"eth" + n};
    case 4:
      return AttachMemif{"/tmp/" + n + ".memif", chance.one_in(2), static_cast<int>(chance.integer(0, 65535))};
    default:
      return AttachDpdk{"net_tap" + n + ",iface=tap" + n};
  }
}

NicSpec random_nic(Chance& chance, Clock clock, bool built_in, int n) {
  NicSpec nic;
  if (chance.one_in(4)) nic.mac = wire::MacAddress{{0x0A, 0, 0, 1, 0, static_cast<std::uint8_t>(n)}};
  if (chance.one_in(4)) nic.address_v4 = wire::IpAddress{0x0B000000u + static_cast<std::uint32_t>(n)};
  if (chance.one_in(4)) nic.address_v6 = wire::IpAddress::parse("fd01::" + std::to_string(n));
  if (!built_in && chance.one_in(2)) nic.attach = random_attachment(chance, clock, std::to_string(n));
  return nic;
}

VlanSpec random_vlan(Chance& chance) {
  VlanSpec vlan;
  vlan.native = chance.integer(1, 10);
  vlan.all_tagged = chance.one_in(3);
  if (!vlan.all_tagged)
    for (int v = 11; v < 20; ++v)
      if (chance.one_in(3)) vlan.tagged.push_back(v);
  return vlan;
}

ControlSpec random_control(Chance& chance) {
  using Kind = ControlSpec::Kind;
  ControlSpec control{chance.of({Kind::kModel, Kind::kNamespace, Kind::kFrr}), {}};
  if (control.kind == Kind::kFrr && chance.one_in(2)) control.config = "/tmp/a file: of # mine";
  return control;
}

// Switches in a row, hosts at any of them; h1..h4 have built-in traffic at port 1.

}  // namespace

void add_nodes_and_links(Chance& chance, Lab& lab) {
  const int switches = chance.integer(1, 4);
  std::vector<int> ports(static_cast<std::size_t>(switches), 0);
  const auto next_port = [&](int s) {
    int& port = ports[static_cast<std::size_t>(s)];
    port += chance.integer(1, 2);
    if (chance.one_in(4)) lab.nodes[static_cast<std::size_t>(s)].vlans[port] = random_vlan(chance);
    return PortName{"s" + std::to_string(s), port};
  };
  const auto add_link = [&](PortName a, PortName b) {
    LinkSpec link;
    link.a = std::move(a);
    link.b = std::move(b);
    if (chance.one_in(2)) link.rate = BitRate{chance.bytes(1'000'000'000, 800'000'000'000).n};
    if (chance.one_in(3)) {
      link.cable = Length{chance.number(0, 1'000'000)};
      link.delay = propagation(*link.cable);
    } else if (chance.one_in(2)) {
      link.cable.reset();
      link.delay = chance.time(0, kMillisecond);
    }
    if (chance.one_in(3)) link.mtu = chance.integer(1500, 9216);
    if (chance.one_in(3)) link.weight = chance.integer(1, 1000);
    const bool cuts = std::ranges::any_of(
        lab.switches, [](const auto& s) { return s.second.mode == ForwardingMode::kCutThrough; });
    if (!cuts && chance.one_in(3)) link.llr = chance.one_in(2) ? LlrSpec{} : LlrSpec{chance.time(0, 1'000'000)};
    if (chance.one_in(3)) link.framing = {chance.integer(-48, 1000), chance.integer(0, 1000)};
    lab.links.push_back(link);
  };
  for (int s = 0; s < switches; ++s) {
    NodeSpec& node = lab.nodes.emplace_back();
    node.name = "s" + std::to_string(s);
    node.profile = chance.of<std::string>({"default", "other"});
    node.role = chance.of<std::string>({"", "leaf", "a role: of # its own", "null"});
    if (chance.one_in(4)) node.control = random_control(chance);
    if (chance.one_in(4)) node.loopback_v4 = wire::IpAddress{0x0C000000u + static_cast<std::uint32_t>(s)};
    if (s > 0) {
      PortName before = next_port(s - 1);
      add_link(std::move(before), next_port(s));
      if (chance.one_in(4)) lab.links.back().bundle = "po" + std::to_string(s);
    }
  }
  const int hosts = chance.integer(4, 9);
  for (int h = 1; h <= hosts; ++h) {
    NodeSpec host;
    host.name = "h" + std::to_string(h);
    host.kind = NodeSpec::Kind::kHost;
    host.profile = chance.of<std::string>({"default", "other"});
    if (chance.one_in(3)) host.rack = chance.of<std::string>({"a1", "rack 2"});
    const int nics = chance.one_in(2) ? 1 : chance.integer(1, 8);
    for (int n = 1; n <= nics; ++n) {
      host.nics.push_back(random_nic(chance, lab.run.clock, h <= 4 && n == 1, 10 * h + n));
      add_link({host.name, n}, next_port(chance.integer(0, switches - 1)));
    }
    lab.nodes.push_back(std::move(host));
  }
}

namespace {

PfcMode random_pfc(Chance& chance) {
  return chance.of({PfcMode::kAuto, PfcMode::kOn, PfcMode::kOff, PfcMode::kRx, PfcMode::kTx});
}

// Of a class at some ports. XOFF is above all offsets that are drawn.

ClassOverride random_override(Chance& chance, const TrafficClass& c, bool buffer) {
  ClassOverride over;
  if (!(c.lossless && c.cbfc)) over.pfc = random_pfc(chance);
  if (!buffer) return over;
  if (chance.one_in(2)) over.xoff = chance.bytes(2 * kMiB, 4 * kMiB);
  if (!over.xoff && chance.one_in(2)) over.alpha_exponent = chance.integer(-8, 7);
  if (!c.lossless) return over;
  if (chance.one_in(2)) over.xon_offset = chance.bytes(0, kMiB);
  if (chance.one_in(2)) over.headroom = chance.bytes(1, kMiB);
  return over;
}

}  // namespace

void draw_pfc(Chance& chance, Lab& lab) {
  for (auto& [name, qos] : lab.qos)
    for (TrafficClass& c : qos.classes) {
      if (!(c.lossless && c.cbfc) && chance.one_in(3)) c.pfc = random_pfc(chance);
      for (int n = chance.integer(-2, 2); n > 0; --n)
        c.by_rate[BitRate{chance.bytes(1'000'000'000, 800'000'000'000).n}] = random_override(chance, c, true);
    }
  for (auto& [name, host] : lab.hosts) host.pfc = random_pfc(chance);
  for (const LinkSpec& link : lab.links)
    for (const PortName& end : {link.a, link.b}) {
      if (!chance.one_in(4)) continue;
      NodeSpec& node = *std::ranges::find(lab.nodes, end.node, &NodeSpec::name);
      PortSpec& port = node.ports[end.port];
      port.pfc = random_pfc(chance);
      const int k = chance.integer(0, 7);
      const bool is_switch = node.kind == NodeSpec::Kind::kSwitch;
      const std::string& qos = is_switch ? lab.switches.at(node.profile).qos : lab.hosts.at(node.profile).qos;
      if (chance.one_in(2))
        port.classes[k] =
            random_override(chance, lab.qos.at(qos).classes[static_cast<std::size_t>(k)], is_switch);
    }
}

}  // namespace railyard::spec
