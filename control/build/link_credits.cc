#include "control/build/link_credits.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/build/device_settings.h"
#include "control/spec/spec_error.h"
#include "control/spec/telemetry_octets.h"
#include "control/spec/value.h"
#include "dataplane/nic/host_config.h"
#include "dataplane/switch/headroom.h"

namespace railyard::build {
namespace {

struct Receiver {
  const spec::NodeSpec& node;
  const spec::QosProfile& qos;
  Bytes cell;
  Duration latency;
};

Receiver receiver_of(const spec::Lab& lab, const spec::NodeSpec& node) {
  if (node.kind == spec::NodeSpec::Kind::kSwitch) {
    const spec::SwitchProfile& s = lab.switches.at(node.profile);
    return {node, lab.qos.at(s.qos), s.cell, s.latency};
  }
  const spec::HostProfile& h = lab.hosts.at(node.profile);
  return {node, lab.qos.at(h.qos), Bytes{NicConfig{}.receive.cell}, h.latency};
}

ClassCredits class_credits(const Receiver& to, const spec::PortName& end, std::size_t k, const spec::TrafficClass& t,
                           HeadroomTerms terms) {
  const auto cells_of = [&](Bytes size) { return static_cast<std::uint32_t>((size.n + to.cell.n - 1) / to.cell.n); };
  const std::uint32_t frame = cells_of(Bytes{terms.peer_frame});
  terms.least_frame = t.least_frame;
  ClassCredits c;
  c.update = t.cbfc->update ? cells_of(*t.cbfc->update) : frame;
  // On top of headroom: a frame in transmission, and free cells that no update has announced yet.
  c.cells = t.cbfc->credits ? static_cast<std::uint32_t>(t.cbfc->credits->n / to.cell.n)
                            : headroom_cells(terms, to.cell) + frame + c.update;
  if (c.cells < frame + c.update)
    throw spec::SpecError(
        to.node.place,
        fmt::format(
            "{}: credits of class {} are {}, less than one frame of its link ({}) plus the update interval ({}); "
            "expected `credits: auto`, or at least {}",
            spec::format(end), k, spec::format(to.cell * c.cells), spec::format(Bytes{terms.peer_frame}),
            spec::format(to.cell * c.update), spec::format(to.cell * (frame + c.update))));
  return c;
}

}  // namespace

std::optional<CreditConfig> credits_at(const spec::Lab& lab, const spec::LinkSpec& link, const spec::PortName& end) {
  const spec::NodeSpec& node = *lab.find(end.node);
  const spec::NodeSpec& peer = *lab.find((end == link.a ? link.b : link.a).node);
  if (node.kind == spec::NodeSpec::Kind::kTrunk || peer.kind == spec::NodeSpec::Kind::kTrunk) return {};
  const Receiver to = receiver_of(lab, node);
  HeadroomTerms terms;
  terms.rate = link.rate;
  terms.framing = link.framing;
  terms.propagation = link.delay;
  terms.peer_response = peer_response(lab, peer, link.rate);
  terms.rx_latency = to.latency;
  terms.own_frame = terms.peer_frame = largest_frame(link.mtu) + spec::telemetry_octets(lab);
  if (link.llr)
    terms.retry = LinkRetry::delay(retry_of(*link.llr), link.rate, link.framing, link.delay, terms.own_frame);
  CreditConfig credits;
  credits.cell = static_cast<std::uint32_t>(to.cell.n);
  bool any = false;
  std::int64_t cells = 0;
  for (std::size_t k = 0; k < kPriorities; ++k) {
    const spec::TrafficClass& t = to.qos.classes[k];
    if (!has_credits(t)) continue;
    credits.sync = any ? std::min(credits.sync, t.cbfc->sync) : t.cbfc->sync;
    any = true;
    credits.classes[k] = class_credits(to, end, k, t, terms);
    cells += credits.classes[k].cells;
  }
  if (!any) return {};
  if (node.kind == spec::NodeSpec::Kind::kHost)
    if (const Bytes room = lab.hosts.at(node.profile).receive.buffer; to.cell * cells > room)
      throw spec::SpecError(
          node.place, fmt::format("{}: the credits cover {}, but the NIC's receive buffer has {}; expected smaller "
                                  "`cbfc.credits`, or a larger `receive.buffer` in host profile {}",
                                  spec::format(end), spec::format(to.cell * cells), spec::format(room), node.profile));
  return credits;
}

}  // namespace railyard::build
