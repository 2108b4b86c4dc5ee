// Devices that keep packets going round, for tests of the engine: everything they do can be written down and compared.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dataplane/base/hash.h"
#include "dataplane/device/device.h"
#include "dataplane/device/fabric.h"
#include "dataplane/device/pfc_frame.h"

namespace railyard {

struct Caught {
  Instant at;
  std::uint32_t device;
  std::uint16_t port;
  std::uint64_t ball;
  std::uint64_t throws;  // of this ball so far

  auto operator<=>(const Caught&) const = default;
};

// Throws its balls at 0, and every ball that it catches on at once, by a port that depends on the ball, on how often it
// was thrown and on what was caught before: any difference in order shows in all that follows.
class Juggler final : public Device {
 public:
  static constexpr Duration kLatency{200'000};
  static constexpr Duration kFrame{64'000};  // what a frame takes on the wire

  Juggler(DeviceId id, std::string name, std::size_t ports, unsigned balls)
      : Device(id, std::move(name), ports), out_(ports), left_(balls) {}

  Duration data_latency() const noexcept override { return kLatency; }
  Duration pause_response(BitRate) const noexcept override { return kLatency; }
  void for_each_held(const std::function<void(const Packet&)>&) const override {}

  std::vector<Caught> caught;

 protected:
  Instant run(Instant until) override {
    for (; left_ > 0; --left_) {
      Packet* ball = make_pfc_frame(pool(), {}, 0, {});
      if (ball == nullptr) break;
      ball->stream = std::uint64_t{id().value} << 32 | left_;
      throw_on(Instant{}, ball);
    }
    const Instant rest = collect(until);
    for (const Arrival& a : arrivals()) {
      const Instant now = EventKey::time(key_base(), a.key);
      caught.push_back(
          {now, id().value, static_cast<std::uint16_t>(EventKey::port(a.key)), a.packet->stream, a.packet->offset});
      throw_on(now, a.packet);
    }
    return rest;
  }
  void connected(PortIndex port, Channel& out, BitRate) override { out_[port.index()] = &out; }
  void on_link_down(Instant, PortIndex) override {}
  void on_link_up(Instant, PortIndex) override {}
  void on_new_key_base() override {}
  void count_live(DeviceCounters&) const override {}
  void count_rest(DeviceCounters&) const override {}

 private:
  void throw_on(Instant now, Packet* ball) {
    memory_ = mix64(memory_ ^ ball->stream ^ ++ball->offset << 40);
    Channel& out = *out_[memory_ % out_.size()];
    // Some are held for a while.
    const Duration held{static_cast<std::int64_t>(memory_ >> 40 & 0xFFFF)};
    out.push_data(now, kFrame + held + out.propagation + out.data_latency, ball);
  }

  std::vector<Channel*> out_;
  unsigned left_;
  std::uint64_t memory_ = 0;
};

// Everybody linked with everybody; the window is the frame's time less than what lies between two of them at least.
inline std::unique_ptr<Fabric> circle_of_jugglers(std::size_t n, unsigned balls) {
  auto fabric = std::make_unique<Fabric>();
  for (std::size_t i = 0; i < n; ++i) fabric->add<Juggler>("j" + std::to_string(i), n - 1, balls);
  for (std::uint32_t i = 0; i < n; ++i)
    for (std::uint32_t j = i + 1; j < n; ++j)
      fabric->connect({{DeviceId{i}, PortIndex{static_cast<std::uint16_t>(j - 1)}},
                       {DeviceId{j}, PortIndex{static_cast<std::uint16_t>(i)}},
                       BitRate{100'000'000'000},
                       Duration{300'000} + Duration{10'000} * static_cast<std::int64_t>(i + j)});
  return fabric;
}

// Everybody linked with the one before and the one after.
inline std::unique_ptr<Fabric> ring_of_jugglers(std::uint32_t n, unsigned balls) {
  auto fabric = std::make_unique<Fabric>();
  for (std::uint32_t i = 0; i < n; ++i) fabric->add<Juggler>("j" + std::to_string(i), 2, balls);
  for (std::uint32_t i = 0; i < n; ++i)
    fabric->connect({{DeviceId{i}, PortIndex{1}},
                     {DeviceId{(i + 1) % n}, PortIndex{0}},
                     BitRate{100'000'000'000},
                     Duration{300'000} + Duration{10'000} * static_cast<std::int64_t>(i)});
  return fabric;
}

// What all of them caught, by device.
inline std::vector<Caught> all_caught(Fabric& fabric) {
  std::vector<Caught> all;
  for (const auto& d : fabric.devices()) {
    const auto& caught = dynamic_cast<Juggler&>(*d).caught;
    all.insert(all.end(), caught.begin(), caught.end());
  }
  return all;
}

}  // namespace railyard
