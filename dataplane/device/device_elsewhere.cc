// A device that another process advances: what is told of it here.
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "dataplane/base/state_archive.h"
#include "dataplane/device/device.h"

namespace railyard {

void Device::leave_to_another() {
  DeviceCounters blank = counters();
  const std::size_t queues = ports() * kPriorities;
  told_ = std::make_unique<Told>(std::move(blank), std::vector(queues, Instant::never()),
                                 std::vector<QueueSample>(queues));
}

// Of queues that were never used nothing is told but that.
void Device::exchange_queues(StateArchive& archive) {
  for (std::uint16_t p = 0; p < ports(); ++p) {
    archive(ingress_[p].up);
    std::array<QueueSample, kPriorities> samples;
    std::array<Instant, kPriorities> paused;
    PriorityMask used = 0;
    for (std::uint8_t k = 0; k < kPriorities && !archive.reads(); ++k) {
      samples[k] = queue_sample(PortIndex{p}, Priority{k});
      paused[k] = class_paused_since(PortIndex{p}, Priority{k});
      if (samples[k] != QueueSample{} || paused[k] != Instant::never()) used |= bit(Priority{k});
    }
    archive(used);
    for (std::uint8_t k = 0; k < kPriorities; ++k) {
      if ((used & bit(Priority{k})) != 0)
        archive(samples[k], paused[k]);
      else if (archive.reads())
        samples[k] = {}, paused[k] = Instant::never();
    }
    if (!archive.reads()) continue;
    std::ranges::copy(samples, &told_->samples[p * kPriorities]);
    std::ranges::copy(paused, &told_->paused_since[p * kPriorities]);
  }
}

PortLook Device::told_look(PortIndex port) const {
  PortLook look;
  for (std::uint8_t k = 0; k < kPriorities; ++k) {
    const QueueSample s = sample(port, Priority{k});
    look.depth_octets += s.depth_octets;
    look.tx_octets += s.tx_octets;
    look.paused += s.paused;
    look.held |= paused_since(port, Priority{k}) != Instant::never();
  }
  return look;
}

void Device::exchange_figures(StateArchive& archive, Figures which) {
  archive(done_);
  if ((which & (kQueueFigures | kPauseFigures)) != 0) exchange_queues(archive);
  exchange_more(archive, which);
  if (which == kAllFigures) {
    DeviceCounters counted;
    std::vector<std::uint64_t> coming;
    if (!archive.reads()) {
      counted = counters();
      for (const Inbox& inbox : inboxes_) coming.push_back(inbox.channel != nullptr ? inbox.channel->in_flight() : 0);
    }
    archive(counted, coming, digest_, losses_);
    if (archive.reads()) {
      told_->counters = std::move(counted);
      for (std::size_t p = 0; p < ports(); ++p)
        if (inboxes_[p].channel != nullptr) inboxes_[p].channel->in_flight_elsewhere(coming.at(p));
    }
  }
  if (!archive.reads()) return;
  // What was to happen there has.
  std::erase_if(scheduled_, [this](const Scheduled& s) { return s.at < done_; });
  scheduled_next_ = scheduled_.empty() ? Instant::never() : scheduled_.back().at;
}

}  // namespace railyard
