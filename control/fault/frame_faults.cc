#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "control/fault/frame_stage.h"
#include "control/fault/parts.h"
#include "control/spec/fault_match.h"
#include "control/spec/fault_place.h"
#include "control/spec/faults/fault_kind.h"
#include "control/spec/spec_error.h"
#include "control/spec/suggest.h"
#include "control/spec/value.h"
#include "dataplane/wire/credit_message.h"
#include "dataplane/wire/ip_protocol.h"
#include "dataplane/wire/udp.h"

namespace railyard::fault {
namespace {

using Direction = spec::FaultPlace::Direction;

// Of a flow by its name, or of all flows of a traffic.
void match_flow(const build::BuiltLab& lab, const std::string& name, FrameMatch& match) {
  for (const build::Flow& f : lab.flows())
    if (f.plan.name == name) {
      match.stream = f.plan.id;
      return;
    }
  std::vector<std::string> names;
  for (const build::Flow& f : lab.flows()) names.push_back(f.plan.name);
  throw spec::SpecError({}, fmt::format("there is no flow '{}'{}", name,
                                        names.empty() ? "; the lab has no flows" : spec::meant_or_known(name, names)));
}

const spec::QosProfile& qos_of(const build::BuiltLab& lab, const PortRef& port) {
  const spec::NodeSpec* node = &lab.node_of(port.device);
  if (node->kind == spec::NodeSpec::Kind::kTrunk) node = &lab.node_of(lab.fabric().peer(port).device);
  return lab.spec().qos.at(node->kind == spec::NodeSpec::Kind::kSwitch ? lab.spec().switches.at(node->profile).qos
                                                                       : lab.spec().hosts.at(node->profile).qos);
}

// The code points that the receiver puts into a class.
void match_class(const spec::QosProfile& qos, int traffic_class, FrameMatch& match) {
  const auto bits = [traffic_class](const auto& to_class) {
    std::uint64_t mask = 0;
    for (std::size_t i = 0; i < to_class.size(); ++i)
      if (to_class[i] == traffic_class) mask |= std::uint64_t{1} << i;
    return mask;
  };
  if (qos.trust == spec::Trust::kDscp)
    match.dscps = bits(qos.dscp_to_class);
  else
    match.pcps = static_cast<std::uint8_t>(bits(qos.pcp_to_class));
}

FrameMatch match_of(const build::BuiltLab& lab, const spec::FaultSpec& fault) {
  FrameMatch match;
  for (const auto& [name, profile] : lab.spec().hosts) {
    if (profile.uet.udp && profile.uet.udp_port != wire::kUetPort)
      match.uet_udp_ports.push_back(static_cast<std::uint16_t>(profile.uet.udp_port));
    if (!profile.uet.udp && profile.uet.ip_protocol != wire::ip_protocol::kUetNative)
      match.uet_ip_protocols.push_back(static_cast<std::uint8_t>(profile.uet.ip_protocol));
  }
  for (const spec::MatchTerm& t : fault.match) {
    if (t.field == "flow") {
      match_flow(lab, t.value, match);
    } else if (t.field == "size") {
      const spec::FrameSizes sizes = spec::parse_frame_sizes(t.value).value();
      match.least_octets = sizes.least;
      match.most_octets = sizes.most;
    } else {
      match.add(spec::parse_field_tests(*wire::header_field(t.field), t.value).value());
    }
  }
  return match;
}

}  // namespace

FrameStage stage_of(const spec::FaultAction& action, bool alone) {
  return std::visit(
      [&]<class A>(const A& a) -> FrameStage {
        if constexpr (requires { &A::stage; })
          return a.stage(alone);
        else
          return {.action = frame_action::Lose{}, .chance = {}};
      },
      action);
}

Duration longest_hold(const spec::FaultSpec& fault) {
  return spec::acts_on_frames(fault.action) ? stage_of(fault.action, spec::picks_frames(fault)).longest : Duration{};
}

ActivityConfig activity_of(const spec::FaultSpec& f, Instant added,
                           const std::optional<std::vector<Interval>>& listed) {
  ActivityConfig c;
  if (listed || f.when) {
    c.listed = listed.value_or(std::vector<Interval>{});
    return c;
  }
  c.first = f.at ? Instant{} + *f.at : added + f.after.value_or(Duration{});
  if (const auto* flap = std::get_if<spec::fault::Flap>(&f.action)) {
    c.every = flap->down + flap->up;
    c.lasts = flap->down;
    c.count = f.count;
    if (f.lasts) c.until = c.first + *f.lasts;
  } else {
    c.every = f.every.value_or(Duration{});
    c.lasts = f.lasts.value_or(Duration{});
    if (f.every) c.count = f.count;
  }
  if (f.probability && !spec::acts_on_frames(f.action)) c.chance = chance_of(*f.probability);
  return c;
}

std::vector<FaultyDirection> frame_faults(build::BuiltLab& lab, const spec::FaultSpec& fault,
                                          const ActivityConfig& when) {
  std::vector<FaultyDirection> out;
  std::set<PortRef> seen;
  const FrameMatch match = match_of(lab, fault);
  for (const spec::FaultPlace& place : fault.on) {
    for (const spec::PortName& name : spec::ports_at(lab.spec(), place)) {
      const PortRef port = lab.port(name);
      const PortRef peer = lab.fabric().peer(port);
      for (const auto& [receiver, direction] : {std::pair{port, Direction::kIn}, {peer, Direction::kOut}}) {
        if (place.direction != Direction::kBoth && place.direction != direction) continue;
        if (!seen.insert(receiver).second) continue;
        const bool alone = spec::picks_frames(fault, place);
        const FrameStage stage = stage_of(fault.action, alone);
        FrameFaultConfig config{.action = stage.action, .when = when, .match = match};
        config.nth = fault.nth;
        config.most = fault.every || fault.when ? 0 : fault.count;
        config.chance = fault.probability ? chance_of(*fault.probability) : stage.chance;
        const bool pauses = stage.frames == FrameStage::Frames::kPauses;
        config.lanes = {!pauses, pauses || (stage.frames == FrameStage::Frames::kOfLink && !alone)};
        // Other control frames, reports of quality, are none of its business.
        if (pauses)
          config.match.add({wire::number_test(wire::HeaderLayer::kEthernet, 96, 16, wire::ether_type::kMacControl),
                            wire::number_test(wire::HeaderLayer::kEthernet, 96, 24,
                                              wire::kCreditMessageEtherType << 8 | wire::kCreditMessageSubtype)});
        if (place.traffic_class >= 0) match_class(qos_of(lab, receiver), place.traffic_class, config.match);
        const std::string where =
            spec::format(spec::PortName{lab.node_of(receiver.device).name, receiver.port.value + 1});
        // What the FCS tells of is made good on the link, by who sends.
        const PortRef sender = receiver == port ? peer : port;
        const bool retried = makes_fcs_wrong(config.action) &&
                             lab.fabric()[sender.device].link_retry(sender.port) != nullptr;
        out.push_back({receiver, where,
                       std::make_shared<FrameFault>(std::move(config), lab.spec().run.seed,
                                                    fmt::format("fault/{}/{}", fault.name, where)),
                       stage.longest, retried ? std::optional(sender) : std::nullopt});
      }
    }
  }
  return out;
}

}  // namespace railyard::fault
