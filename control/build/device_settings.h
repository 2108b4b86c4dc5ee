// What a spec says of classes, paths, watchdogs and links, as devices take it.
#pragma once

#include <cstdint>
#include <optional>

#include "control/spec/spec.h"
#include "dataplane/base/endpoint.h"
#include "dataplane/base/framing.h"
#include "dataplane/device/classify.h"
#include "dataplane/device/link_retry.h"
#include "dataplane/device/pfc_enable.h"
#include "dataplane/device/pause_response.h"
#include "dataplane/device/scheduler.h"
#include "dataplane/switch/switch_config.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/vlan.h"

namespace railyard::build {

TrustMap trust_map(const spec::QosProfile& qos);
ClassScheduling scheduling_of(const spec::TrafficClass& c) noexcept;
PriorityMask lossless_classes(const spec::QosProfile& qos) noexcept;
// Whether the sender has credits (CBFC), which it has of lossless classes only; and which classes have them.
inline bool has_credits(const spec::TrafficClass& c) noexcept { return c.lossless && c.cbfc.has_value(); }
PriorityMask classes_with_credits(const spec::QosProfile& qos) noexcept;
PfcEnable pfc_of(const spec::Lab& lab, const spec::NodeSpec& node, int port, BitRate rate);
// At a port of this rate.
EcnConfig ecn_of(const spec::Ecn& e, BitRate rate) noexcept;
WredConfig wred_of(const spec::Wred& w) noexcept;
PfcWatchdogConfig watchdog_of(const spec::PfcWatchdog& w) noexcept;
inline LinkRetryConfig retry_of(const spec::LlrSpec& llr) noexcept { return {.turnaround = llr.turnaround}; }

// What frames take of a link besides their octets without an 802.1Q tag, when they have one; and as a NIC sends them.
constexpr Framing with_tag(Framing framing) noexcept {
  framing.preamble += static_cast<int>(wire::Vlan::kOctets);
  return framing;
}
Framing framing_of_frames(const spec::Lab& lab, const spec::PortName& nic, Framing link);
// The tag of a traffic's frames as `nic` sends them.
FrameTag frame_tag_of(const spec::Lab& lab, const spec::PortName& nic, const spec::TrafficSpec& traffic);

// Octets with tag and FCS of a frame that carries an IP packet of `mtu`.
constexpr std::uint32_t largest_frame(int mtu) noexcept {
  return static_cast<std::uint32_t>(mtu) + wire::Ethernet::kOctets + wire::Vlan::kOctets + wire::kFcsOctets;
}
// From a pause frame to its effect: what is configured, or the longest that the standard allows.
inline Duration response_of(const std::optional<Duration>& configured, BitRate rate) noexcept {
  return configured ? *configured : standard_pause_response(rate);
}
// The same of a node of the lab, at a link of `rate`; of what is behind a trunk only the standard's is known.
Duration peer_response(const spec::Lab& lab, const spec::NodeSpec& peer, BitRate rate);

}  // namespace railyard::build
