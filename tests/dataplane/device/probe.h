// The smallest device: it writes down what happens to it, and when, and consumes what it receives.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "dataplane/device/device.h"

namespace railyard {

class Probe final : public Device {
 public:
  struct Event {
    Instant at;
    std::string what;  // "control", "data", "change", "snapshot", "down", "up", "rate"
    std::uint16_t port = 0;
    std::uint64_t stream = 0;  // of a packet

    auto operator<=>(const Event&) const = default;
  };

  Probe(DeviceId id, std::string name, std::size_t ports, Duration data = Duration{600'000},
        Duration control = Duration{2'000'000})
      : Device(id, std::move(name), ports), data_(data), control_(control) {}

  Duration data_latency() const noexcept override { return data_; }
  Duration pause_response(BitRate) const noexcept override { return control_; }

  void for_each_held(const std::function<void(const Packet&)>&) const override {}

  void note(Instant at, std::string what, std::uint16_t port = 0, std::uint64_t stream = 0) {
    events.push_back({at, std::move(what), port, stream});
  }

  std::vector<Event> events;
  std::vector<Instant> slices;  // what run() was asked to reach
  unsigned rebased = 0;

 protected:
  Instant run(Instant until) override {
    slices.push_back(until);
    const Instant rest = collect(until);
    for (Arrival& a : arrivals()) {
      note(EventKey::time(key_base(), a.key), EventKey::kind(a.key) == EventKind::kArrival ? "data" : "control",
           static_cast<std::uint16_t>(EventKey::port(a.key)), a.packet->stream);
      ++consumed_;
      pool().release(a.packet);
    }
    return rest;
  }
  void connected(PortIndex, Channel&, BitRate) override {}
  void on_link_down(Instant now, PortIndex port) override { note(now, "down", port.value); }
  void on_link_up(Instant now, PortIndex port) override { note(now, "up", port.value); }
  void on_new_rate(Instant now, PortIndex port, BitRate rate, Duration) override {
    note(now, "rate", port.value, static_cast<std::uint64_t>(rate.bps));
  }
  void on_new_key_base() override { ++rebased; }
  void count_live(DeviceCounters& c) const override { c.consumed = consumed_; }
  void count_rest(DeviceCounters&) const override {}

 private:
  Duration data_;
  Duration control_;
  std::uint64_t consumed_ = 0;
};

}  // namespace railyard
