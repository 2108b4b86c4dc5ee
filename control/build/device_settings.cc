#include "control/build/device_settings.h"

#include <algorithm>

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
