#include "control/swarm/excuses.h"

#include "control/build/device_settings.h"

namespace railyard::swarm {

using enum spec::FaultEffect;

const spec::SwitchProfile* Excuses::profile_of(DeviceId device) const {
  const spec::NodeSpec& n = lab_.node_of(device);
  return n.kind == spec::NodeSpec::Kind::kSwitch ? &lab_.spec().switches.at(n.profile) : nullptr;
}

const spec::QosProfile& Excuses::qos_of(DeviceId device) const {
  const spec::SwitchProfile* s = profile_of(device);
  return lab_.spec().qos.at(s != nullptr ? s->qos : lab_.spec().hosts.at(lab_.node_of(device).profile).qos);
}

bool Excuses::is_lossless(PortRef port, Priority priority) const {
  return qos_of(port.device).classes[priority.index()].lossless;
}

PfcEnable Excuses::pfc_of(PortRef port) const {
  return build::pfc_of(lab_.spec(), lab_.node_of(port.device), port.port.value + 1, lab_.rate(port));
}

bool Excuses::has_credits(PortRef port, Priority priority) const {
  return build::has_credits(qos_of(port.device).classes[priority.index()]);
}

// Whether the sender of a lossless class is told to stop, and listens.
bool Excuses::stops(PortRef port, Priority priority) const {
  return has_credits(port, priority) ||
         (pfc_of(port).tx & pfc_of(lab_.fabric().peer(port)).rx & bit(priority)) != 0;
}

// Senders that do not always obey; headroom that was meant to be less than needed; hosts whose buffer is too small for
// what their classes may hold.
bool Excuses::loses_by_settings(PortRef port, Priority priority) const {
  if (!stops(port, priority)) return true;
  constexpr std::int64_t kInFlight = 1 << 20;  // what comes after XOFF, at 400 Gb/s over 300 m and more
  const spec::SwitchProfile* sender = profile_of(lab_.fabric().peer(port).device);
  if (sender != nullptr && sender->pfc_watchdog && sender->pfc_watchdog->action == spec::PfcWatchdog::Action::kForward)
    return true;  // when it has been paused for long, it goes on
  if (const spec::SwitchProfile* s = profile_of(port.device))
    return s->headroom_pool > Bytes{} || qos_of(port.device).classes[priority.index()].accept_loss;
  // One class of a NIC whose sender goes on takes the memory of all.
  for (std::uint8_t k = 0; k < kPriorities; ++k)
    if (is_lossless(port, Priority{k}) && (pfc_of(port).tx & bit(Priority{k})) != 0 && !stops(port, Priority{k})) return true;
  const spec::ReceiveSpec& receive = lab_.spec().hosts.at(lab_.node_of(port.device).profile).receive;
  return receive.buffer.n < 8 * receive.xoff.n + 3 * kInFlight;
}

// Whether frames may be in another class for one end of the link than for the other, so that a pause finds the wrong
// queue.
bool Excuses::misclassified(PortRef port) const {
  const PortRef peer = lab_.fabric().peer(port);
  return reach_.on(port.device, {kChangesClass}) || reach_.on(peer.device, {kChangesClass}) ||
         reach_.towards(port, {kChangesClass}) || loses_pcp(port);
}

// Whether frames come untagged to a device that trusts PCP, from a switch that may have had them tagged: they are in its
// default class.
bool Excuses::loses_pcp(PortRef port) const {
  const PortRef peer = lab_.fabric().peer(port);
  return qos_of(port.device).trust == spec::Trust::kPcp && profile_of(peer.device) != nullptr &&
         lab_.node_of(peer.device).vlans.contains(peer.port.value + 1);
}

// Whether the sender at the far end may have gone on for longer than headroom was computed for, or more has come out of
// the cable than the sender put in.
bool Excuses::overruns(PortRef port) const {
  const PortRef peer = lab_.fabric().peer(port);
  return misclassified(port) ||
         // Our pause frames are lost or late,
         reach_.towards(peer, {kHindersPauses}) ||
         // wait for more than the one retry of a frame that headroom is computed for,
         (lab_.fabric()[port.device].link_retry(port.port) != nullptr && reach_.towards(peer, {kRepeatsForLong})) ||
         // not obeyed,
         reach_.at(peer, {kIgnoresPauses}) ||
         // or forgotten; and what was held back comes at once.
         reach_.at(port, {kBreaksLink}) || reach_.towards(port, {kBunches});
}

bool Excuses::drop(DropReason reason, PortRef port, Priority priority) const {
  const bool lossy = !is_lossless(port, priority);
  const spec::SwitchProfile* profile = profile_of(port.device);
  switch (reason) {
    case DropReason::kIngressFull:
      // Copies have no credits, and a class that frames are put into by mistake has none for them.
      return lossy ||
             (has_credits(port, priority) && (reach_.towards(port, {kDuplicates}) || misclassified(port)));
    case DropReason::kEgressFull:
    case DropReason::kWred:
    case DropReason::kTrimQueueFull:
      return lossy;
    case DropReason::kHeadroomFull:
      return !lossy && (loses_by_settings(port, priority) || overruns(port));
    case DropReason::kNicReceiveFull:
      return lossy || loses_by_settings(port, priority) || overruns(port);
    case DropReason::kPfcWatchdog:
      return profile != nullptr && profile->pfc_watchdog &&
             profile->pfc_watchdog->action == spec::PfcWatchdog::Action::kDrop;
    default:
      return drop_at(reason, port);
  }
}

bool Excuses::drop_at(DropReason reason, PortRef port) const {
  if (reach_.explains(reason, port)) return true;
  // While switches learn of it one by one, tables lead in circles, or nowhere.
  // Switches tell hosts of packets that went in circles, by ICMP, which no transport understands.
  if (reason == DropReason::kNotUnderstood && profile_of(port.device) == nullptr)
    return may_reroute();
  if (reason == DropReason::kNoRoute || reason == DropReason::kTtlExpired)
    return may_reroute() && profile_of(port.device) != nullptr;
  if (reason != DropReason::kFcsError) return false;
  // What comes in wrong on a link with LLR is not there.
  if (lab_.fabric()[port.device].link_retry(port.port) != nullptr) return false;
  if (reach_.towards(port, {kMakesFcsWrong})) return true;
  // A switch that cuts through hands wrong frames on.
  const spec::SwitchProfile* sender = profile_of(lab_.fabric().peer(port).device);
  return sender != nullptr && sender->mode == spec::ForwardingMode::kCutThrough &&
         reach_.anywhere({kMakesFcsWrong});
}

// BFD does not get through a link that retries a wrong frame until the fault is over, nor is it there if it is wrong itself.
bool Excuses::may_reroute() const {
  const spec::RoutingSpec& r = lab_.spec().routing;
  return r.protocol != spec::RoutingProtocol::kStatic &&
         (reach_.anywhere({kBreaksLink, kLosesFrames}) || (r.bfd && reach_.anywhere({kMakesFcsWrong})));
}

bool Excuses::late_drop(DropReason reason, PortRef port, Priority priority) const {
  switch (reason) {
    case DropReason::kHeadroomFull:
    case DropReason::kNicReceiveFull:
      return drop(reason, port, priority) &&
             (!is_lossless(port, priority) || loses_by_settings(port, priority) || misclassified(port));
    case DropReason::kLinkDown:
    case DropReason::kCrash:
    case DropReason::kNoRoute:
    case DropReason::kTtlExpired:
    case DropReason::kTooBig:
    case DropReason::kGiant:
      return false;
    case DropReason::kNotUnderstood:
      return reach_.explains(reason, port);
    default:
      return drop(reason, port, priority);
  }
}

bool Excuses::lost_to_fault(PortRef receiver) const {
  return reach_.towards(receiver, {kLosesFrames});
}

bool Excuses::lost_with_link(PortRef receiver) const {
  return reach_.at(receiver, {kBreaksLink});
}

bool Excuses::duplicated(PortRef receiver) const { return reach_.towards(receiver, {kDuplicates}); }

}  // namespace railyard::swarm
