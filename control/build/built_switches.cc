#include "control/build/built_switches.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "control/build/device_settings.h"
#include "control/build/link_credits.h"
#include "control/spec/addresses.h"
#include "control/spec/last_hop_marks.h"
#include "control/spec/link_bundle.h"
#include "control/spec/port_class.h"
#include "control/spec/spec_error.h"
#include "control/spec/telemetry_octets.h"
#include "control/spec/value.h"
#include "dataplane/base/hash.h"
#include "dataplane/device/pause_response.h"
#include "dataplane/packet/packet.h"
#include "dataplane/switch/headroom.h"

namespace railyard::build {

using spec::SpecError;

wire::MacAddress port_mac(std::size_t node, PortIndex port) noexcept {
  return spec::automatic_mac(node, port.value + 1);
}

std::optional<wire::MacAddress> mac_of(const spec::Lab& lab, std::size_t node, PortIndex port) {
  return lab.nodes[node].kind == spec::NodeSpec::Kind::kHost ? lab.nodes[node].nics[port.index()].mac
                                                             : std::optional(port_mac(node, port));
}

// Where the headrooms of the switch go.
struct BuiltSwitches::Headrooms {
  DeviceId device;
  std::vector<Headroom>& all;
};

BuiltSwitches::BuiltSwitches(const spec::Lab& lab, const routing::Graph& graph, const routing::Routes& routes)
    : lab_(lab), graph_(graph), routes_(routes), reports_(graph, routes), bundle_of_link_(spec::bundle_of_links(lab)) {}

SwitchConfig BuiltSwitches::of(std::size_t n, DeviceId id, std::vector<Headroom>& headrooms) {
  const spec::NodeSpec& node = lab_.nodes[n];
  const spec::SwitchProfile& profile = lab_.switches.at(node.profile);
  Headrooms own{id, headrooms};
  SwitchConfig config;
  config.mode = profile.mode == spec::ForwardingMode::kCutThrough ? ForwardingMode::kCutThrough
                                                                  : ForwardingMode::kStoreAndForward;
  config.latency = profile.latency;
  config.pause_response = profile.pause_response.value_or(Duration{});
  config.pause_quanta = static_cast<std::uint16_t>(profile.pause_quanta);
  if (profile.pfc_watchdog) config.pfc_watchdog = watchdog_of(*profile.pfc_watchdog);
  config.buffer = {profile.buffer, profile.cell, profile.headroom_pool};
  const spec::QosProfile& qos = lab_.qos.at(profile.qos);
  for (std::size_t k = 0; k < kPriorities; ++k) config.paths.by_class[k] = qos.classes[k].path;
  config.paths.ecmp_seed = profile.ecmp.seed.value_or(mix64(lab_.run.seed.value) ^ hash_string(node.name));
  config.paths.ecmp_fields = {profile.ecmp.addresses, profile.ecmp.ports, profile.ecmp.destination_qp,
                              profile.ecmp.uet_entropy, profile.ecmp.ingress_port};
  config.paths.resilient = profile.ecmp.resilient;
  config.reports = reports_.of(n);
  config.loopback_v4 = node.loopback_v4;
  config.loopback_v6 = node.loopback_v6;
  config.fecs = routes_.fecs;
  if (!spec::has_speaker(lab_, node)) config.forwarding = routes_.forwarding_of(n);
  config.seed = lab_.run.seed;
  config.telemetry_octets = spec::telemetry_octets(lab_);
  config.ports.resize(graph_.ports(n));
  for (std::size_t p = 0; p < config.ports.size(); ++p)
    config.ports[p].mac = port_mac(n, PortIndex{static_cast<std::uint16_t>(p)});
  for (const routing::Graph::Edge& e : graph_.edges(n))
    config.ports[e.port.index()] = port_config(n, e, own);
  for (const routing::Graph::Edge& e : graph_.edges(n))
    config.ports[e.port.index()].quality = {reports_.is_told(e), reports_.beyond(n, e)};
  for (const routing::Graph::Edge& e : graph_.edges(n)) config.ports[e.port.index()].bundle = bundle_of_link_[e.link];
  if (const auto& bfd = lab_.routing.bfd) {
    config.bfd = BfdConfig{bfd->interval, bfd->multiplier};
    const auto models = [&](std::size_t i) { return graph_.is_switch(i) && !spec::has_speaker(lab_, lab_.nodes[i]); };
    for (const routing::Graph::Edge& e : graph_.edges(n)) config.ports[e.port.index()].bfd = models(n) && models(e.neighbour);
  }
  return config;
}

SwitchPortConfig BuiltSwitches::port_config(std::size_t n, const routing::Graph::Edge& e, Headrooms& headrooms) const {
  const spec::SwitchProfile& profile = lab_.switches.at(lab_.nodes[n].profile);
  const spec::QosProfile& qos = lab_.qos.at(profile.qos);
  const spec::NodeSpec& node = lab_.nodes[n];
  const spec::LinkSpec& link = lab_.links[e.link];
  const bool is_last_hop = lab_.nodes[e.neighbour].kind == spec::NodeSpec::Kind::kHost;
  SwitchPortConfig c;
  c.mac = port_mac(n, e.port);
  c.peer_mac = mac_of(lab_, e.neighbour, e.neighbour_port);
  c.gateway_v4 = node.loopback_v4;
  c.gateway_v6 = node.loopback_v6;
  c.faces_hosts = is_last_hop;
  c.mtu = static_cast<std::uint32_t>(link.mtu);
  c.trust = trust_map(qos);
  c.pfc = pfc_of(lab_, node, e.port.value + 1, link.rate);
  c.vlans.allow_all_tagged();
  if (const auto v = node.vlans.find(e.port.value + 1); v != node.vlans.end()) {
    c.vlans = VlanMembership(static_cast<std::uint16_t>(v->second.native));
    if (v->second.all_tagged) c.vlans.allow_all_tagged();
    for (const int vid : v->second.tagged) c.vlans.allow_tagged(static_cast<std::uint16_t>(vid));
  }
  const std::optional<CreditConfig> credits = credits_at(lab_, link, {node.name, e.port.value + 1});
  for (std::size_t k = 0; k < kPriorities; ++k) {
    const spec::TrafficClass t = spec::class_at(lab_, node, e.port.value + 1, link.rate, k);
    if (t.remap_to >= 0) c.remap.to[k] = static_cast<std::uint8_t>(t.remap_to);
    SwitchClassConfig& out = c.classes[k];
    out.scheduling = scheduling_of(t);
    out.ecn = ecn_of(t.ecn, link.rate);
    if (is_last_hop && t.ecn.enabled)
      out.ecn.enabled = spec::marks_last_hop(lab_, qos, k, lab_.hosts.at(lab_.nodes[e.neighbour].profile));
    out.wred = wred_of(t.drop);
    out.buffer.lossless = t.lossless;
    out.buffer.reserved = t.reserved;
    out.buffer.alpha = {static_cast<std::int8_t>(t.alpha_exponent)};
    out.buffer.xoff = t.xoff.value_or(Bytes{});
    out.buffer.xon_offset = t.xon_offset;
    out.buffer.queue_reserved = t.queue_reserved;
    out.buffer.queue_alpha = {static_cast<std::int8_t>(t.queue_alpha_exponent)};
    out.buffer.queue_limit = t.queue_limit.value_or(Bytes{});
    if (t.trim) {
      const int dscp = is_last_hop ? t.trim->last_hop_dscp.value_or(t.trim->dscp) : t.trim->dscp;
      out.trim = {t.trim->keep, static_cast<std::uint8_t>(dscp),
                  Priority{static_cast<std::uint8_t>(t.trim->to_class)}, t.trim->coin};
    }
    if (credits) out.buffer.credits = profile.cell * credits->classes[k].cells;
    if (t.lossless && out.buffer.credits == Bytes{}) set_headroom(n, e, k, t, out.buffer, headrooms);
  }
  return c;
}

// What the class sets aside for itself, and what it may have from the pool beyond that. With a pool, `headroom: auto`
// leaves all of it to the pool.
void BuiltSwitches::set_headroom(std::size_t n, const routing::Graph::Edge& e, std::size_t k, const spec::TrafficClass& t,
                                ClassBuffer& buffer, Headrooms& headrooms) const {
  const spec::SwitchProfile& profile = lab_.switches.at(lab_.nodes[n].profile);
  const spec::LinkSpec& link = lab_.links[e.link];
  const spec::NodeSpec& peer = lab_.nodes[e.neighbour];
  HeadroomTerms terms;
  terms.rate = link.rate;
  terms.framing = link.framing;
  terms.propagation = link.delay;
  terms.peer_response = peer_response(lab_, peer, link.rate);
  // The way of a pause frame through a trunk, and of what is sent meanwhile.
  if (graph_.is_trunk(e.neighbour)) terms.propagation += TrunkEnd::kLatency;
  terms.rx_latency = profile.latency;
  terms.own_frame = terms.peer_frame = largest_frame(link.mtu) + spec::telemetry_octets(lab_);
  terms.least_frame = t.least_frame;
  if (link.llr)
    terms.retry = LinkRetry::delay(retry_of(*link.llr), link.rate, link.framing, link.delay, terms.own_frame);
  const Bytes computed = profile.cell * headroom_cells(terms, profile.cell);
  const Bytes pool = profile.headroom_pool;
  const Bytes configured = t.headroom.value_or(pool > Bytes{} ? Bytes{} : computed);
  const Bytes pooled = pool > Bytes{} && configured < computed ? computed - configured : Bytes{};
  if (configured + std::min(pooled, pool) < computed && !t.accept_loss)
    throw SpecError(lab_.nodes[n].place,
                    fmt::format("switch {} port {}: headroom of lossless class {} is {}{}, but the link needs {} ({} "
                                "at {}, response {}); "
                                "expected `headroom: auto`, a headroom of at least {}, or `accept-loss: true`",
                                lab_.nodes[n].name, e.port.value + 1, k, spec::format(configured),
                                pool > Bytes{} ? fmt::format(" plus at most {} from the pool", spec::format(pool))
                                               : std::string(),
                                spec::format(computed), spec::format(link.rate), spec::format(link.delay),
                                spec::format(terms.peer_response), spec::format(computed)));
  headrooms.all.push_back({headrooms.device, e.port, Priority{static_cast<std::uint8_t>(k)}, computed,
                               configured, pooled, terms});
  buffer.headroom = configured;
  buffer.pooled_headroom = pooled;
}

}  // namespace railyard::build
