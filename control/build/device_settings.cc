#include "control/build/device_settings.h"

#include <algorithm>

#include "control/spec/frame_tags.h"
#include "control/spec/port_class.h"

namespace railyard::build {

TrustMap trust_map(const spec::QosProfile& qos) {
  TrustMap m;
  m.trust = qos.trust == spec::Trust::kDscp ? Trust::kDscp : Trust::kPcp;
  std::transform(qos.dscp_to_class.begin(), qos.dscp_to_class.end(), m.dscp_to_class.begin(),
                 [](int c) { return static_cast<std::uint8_t>(c); });
  std::transform(qos.pcp_to_class.begin(), qos.pcp_to_class.end(), m.pcp_to_class.begin(),
                 [](int c) { return static_cast<std::uint8_t>(c); });
  m.default_class = static_cast<std::uint8_t>(qos.default_class);
  return m;
}

ClassScheduling scheduling_of(const spec::TrafficClass& c) noexcept {
  return {c.strict, static_cast<std::uint16_t>(c.weight)};
}

PriorityMask lossless_classes(const spec::QosProfile& qos) noexcept {
  PriorityMask classes = 0;
  for (std::uint8_t k = 0; k < kPriorities; ++k)
    if (qos.classes[k].lossless) classes = static_cast<PriorityMask>(classes | bit(Priority{k}));
  return classes;
}

PriorityMask classes_with_credits(const spec::QosProfile& qos) noexcept {
  PriorityMask classes = 0;
  for (std::uint8_t k = 0; k < kPriorities; ++k)
    if (has_credits(qos.classes[k])) classes = static_cast<PriorityMask>(classes | bit(Priority{k}));
  return classes;
}

PfcEnable pfc_of(const spec::Lab& lab, const spec::NodeSpec& node, int port, BitRate rate) {
  const spec::PfcClasses classes = spec::pfc_at(lab, node, port, rate);
  return {classes.rx, classes.tx};
}

Framing framing_of_frames(const spec::Lab& lab, const spec::PortName& nic, Framing link) {
  return spec::tags_of(lab, nic) ? with_tag(link) : link;
}

FrameTag frame_tag_of(const spec::Lab& lab, const spec::PortName& nic, const spec::TrafficSpec& traffic) {
  const std::optional<spec::TrafficTag> tag = spec::tag_of(lab, nic, traffic);
  if (!tag) return {};
  return {static_cast<std::int16_t>(tag->vid),
          tag->pcp ? static_cast<std::int8_t>(*tag->pcp) : FrameTag::kOfClass};
}

Duration peer_response(const spec::Lab& lab, const spec::NodeSpec& peer, BitRate rate) {
  switch (peer.kind) {
    case spec::NodeSpec::Kind::kSwitch:
      return response_of(lab.switches.at(peer.profile).pause_response, rate);
    case spec::NodeSpec::Kind::kHost:
      return response_of(lab.hosts.at(peer.profile).pause_response, rate);
    case spec::NodeSpec::Kind::kTrunk:
      break;
  }
  return standard_pause_response(rate);
}

EcnConfig ecn_of(const spec::Ecn& e, BitRate rate) noexcept {
  EcnConfig c;
  c.enabled = e.enabled;
  c.kmin = e.auto_thresholds ? spec::automatic_kmin(rate) : e.kmin;
  c.kmax = e.auto_thresholds ? spec::automatic_kmax(rate) : e.kmax;
  c.pmax_ppm = e.pmax_ppm;
  c.at_dequeue = e.at_dequeue;
  c.drop_not_ect = e.drop_not_ect;
  return c;
}

WredConfig wred_of(const spec::Wred& w) noexcept {
  const auto ramp = [&](const std::optional<spec::WredRamp>& own) {
    const std::optional<spec::WredRamp>& r = own ? own : w.all;
    return r ? DropRamp{true, r->min, r->max, r->probability_ppm} : DropRamp{};
  };
  return {ramp(w.ect), ramp(w.not_ect)};
}

PfcWatchdogConfig watchdog_of(const spec::PfcWatchdog& w) noexcept {
  PfcWatchdogConfig c;
  c.detect = w.detect;
  c.restore = w.restore;
  c.poll = w.poll;
  switch (w.action) {
    case spec::PfcWatchdog::Action::kDrop:
      c.action = PfcWatchdogConfig::Action::kDrop;
      break;
    case spec::PfcWatchdog::Action::kForward:
      c.action = PfcWatchdogConfig::Action::kForward;
      break;
    case spec::PfcWatchdog::Action::kAlert:
      c.action = PfcWatchdogConfig::Action::kAlert;
      break;
  }
  return c;
}

}  // namespace railyard::build
