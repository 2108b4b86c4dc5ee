// What a switch does about its PFC watchdogs (pfc_watchdog.h).
#include <bit>

#include "dataplane/switch/switch.h"

namespace railyard {

// Polls fall on multiples of the interval, but only while something is paused or in a storm: the first one after a rest
// stands for all the time since the last, most of which was not a pause.
void Switch::arm_watchdog(Instant now, PortIndex port, PriorityMask paused) {
  if (watchdog_due_ != Instant::never()) return;
  for (unsigned m = paused; m != 0; m &= m - 1) {
    const Priority priority{static_cast<std::uint8_t>(std::countr_zero(m))};
    if (!obeys_pauses(index(port, priority)) || egress_[port.index()].paused_since(priority, now) == Instant::never())
      continue;
    const Duration poll = config_.pfc_watchdog->poll;
    watchdog_due_ = Instant{} + poll * ((now - Instant{}).ps / poll.ps + 1);
    return set_device_timer();
  }
}

void Switch::poll_watchdog(Instant now) {
  bool again = false;
  for (std::size_t i = 0; i < watchdogs_.size(); ++i) {
    if (!obeys_pauses(i) && !watchdogs_[i].storm()) continue;  // a storm ends, though PFC has been disabled meanwhile
    const PortIndex port{static_cast<std::uint16_t>(i / kPriorities)};
    const Priority priority{static_cast<std::uint8_t>(i % kPriorities)};
    const EgressPort& e = egress_[port.index()];
    const PfcWatchdog::Event event = watchdogs_[i].poll(
        now,
        {(e.nonempty() & bit(priority)) != 0, e.tx_packets(priority), e.xoff_received(priority),
         e.paused_time(priority, now)},
        *config_.pfc_watchdog);
    if (event == PfcWatchdog::Event::kDetected) on_storm(now, port, priority);
    if (event == PfcWatchdog::Event::kRestored) on_storm_over(now, port, priority);
    again |= watchdogs_[i].storm() || e.paused_since(priority, now) != Instant::never();
  }
  watchdog_due_ = again ? now + config_.pfc_watchdog->poll : Instant::never();
}

void Switch::on_storm(Instant now, PortIndex port, Priority priority) {
  const std::size_t i = index(port, priority);
  EgressPort& e = egress_[port.index()];
  history_[i].storms_detected.increment();
  switch (config_.pfc_watchdog->action) {
    case PfcWatchdogConfig::Action::kAlert:
      return;
    case PfcWatchdogConfig::Action::kForward:
      e.ignore_pause(priority, true);
      break;
    case PfcWatchdogConfig::Action::kDrop:
      queues_[i].stops |= Queue::kStorm;
      drop_queued(now, port, bit(priority), DropReason::kPfcWatchdog);
      // What comes in there does not wait for anything, so nobody need be paused for it.
      groups_[i].blocked = false;
      pfc_wanted(now, i, false);
      groups_[i].blocked = true;
      break;
  }
  if (!e.busy()) starts_.add(now, port);
}

void Switch::on_storm_over(Instant now, PortIndex port, Priority priority) {
  const std::size_t i = index(port, priority);
  history_[i].storms_restored.increment();
  egress_[port.index()].ignore_pause(priority, false);
  queues_[i].stops = static_cast<std::uint8_t>(queues_[i].stops & ~unsigned{Queue::kStorm});
  if (!groups_[i].blocked) return;
  groups_[i].blocked = false;
  pfc_wanted(now, i, groups_[i].xoff);
  // A group that is still in XOFF has its headroom in use by frames from before the storm. The peer was told to send
  // meanwhile, so frames are on the way that have no room: they are dropped until the group is back at XON.
  groups_[i].blocked = groups_[i].xoff;
}

}  // namespace railyard
