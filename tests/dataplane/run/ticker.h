// A device with a timer of its own, for tests of what drives devices.
#pragma once

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/device/device.h"

namespace railyard {

// Something to do at each of some instants, and nothing else.
class Ticker final : public Device {
 public:
  Ticker(DeviceId id, std::string name, std::vector<Instant> due, Duration latency = Duration{1'000'000})
      : Device(id, std::move(name), 1), due_(std::move(due)), latency_(latency) {}

  Duration data_latency() const noexcept override { return latency_; }
  Duration pause_response(BitRate) const noexcept override { return latency_; }
  void for_each_held(const std::function<void(const Packet&)>&) const override {}

  bool readable(std::vector<int>&) const override { return on_poll == nullptr; }
  bool polled() const noexcept override { return on_poll != nullptr; }
  Instant poll(Instant now, Duration) override { return lower_next(on_poll(std::max(now, done()))); }
  // What came from outside is to be done at `at`.
  void add(Instant at) { due_.insert(std::upper_bound(due_.begin(), due_.end(), at), at); }

  std::vector<Instant> done_at;          // the instants of what was done
  std::function<void(Instant)> on_tick;  // called for each
  std::function<Instant(Instant)> on_poll;

 protected:
  Instant run(Instant until) override {
    collect(until);
    while (!due_.empty() && due_.front() < until) {
      const Instant now = due_.front();
      due_.erase(due_.begin());
      done_at.push_back(now);
      if (on_tick) on_tick(now);
    }
    return due_.empty() ? Instant::never() : due_.front();
  }
  void connected(PortIndex, Channel&, BitRate) override {}
  void on_link_down(Instant, PortIndex) override {}
  void on_link_up(Instant, PortIndex) override {}
  void on_new_key_base() override {}
  void count_live(DeviceCounters&) const override {}
  void count_rest(DeviceCounters&) const override {}

 private:
  std::vector<Instant> due_;
  Duration latency_;
};

}  // namespace railyard
