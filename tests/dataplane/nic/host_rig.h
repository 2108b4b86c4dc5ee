// A host between bare channels, and an endpoint that does what a test tells it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/nic/host.h"
#include "dataplane/nic/traffic_generator.h"
#include "tests/support/wire.h"
#include "tests/support/instant.h"

namespace railyard {
using namespace literals;
using test::FrameSpec;
using test::ip;
using test::mac;
using test::Sent;
using test::Wire;
using test::WireLink;

constexpr PortIndex kPort{0};
constexpr Priority cls(std::uint8_t c) { return Priority{c}; }

// A frame of 1000 octets at 100 Gb/s takes 81.6 ns, and arrives 80.64 ns after its start; the host takes 600 ns more.
constexpr Duration kSlot = 81'600_ps;
constexpr Duration kEffect = 680'640_ps;
constexpr Duration kQuantum = 5'120_ps;
// The frames that it sends itself have 1002 octets (a payload of 940): 81.76 ns.
constexpr Duration kOwnSlot = 81'760_ps;
constexpr Duration kPfcEffect = 5'760_ps + 394 * kQuantum;

// An endpoint that has frames without end in some classes, each of 1002 octets, and writes down what it receives.
class Source final : public Endpoint {
 public:
  Readiness ready(Instant now) override {
    ++asked;
    if (now < begins) return {0, begins};
    return {classes, Instant::never()};
  }
  std::size_t send(Instant now, Priority priority, std::span<TxFrame> frames) override {
    if ((classes & bit(priority)) == 0) return 0;
    std::size_t n = 0;
    for (; n < frames.size() && left[priority.index()] > 0; ++n, --left[priority.index()]) {
      TxFlowConfig f;
      f.id = priority.value;
      f.source_mac = mac(1);
      f.next_hop_mac = mac(2);
      f.source = ip("10.0.0.1");
      f.destination = ip("10.0.1.1");
      f.dscp = static_cast<std::uint8_t>(priority.value * 8);
      f.priority = priority;
      f.payload = octets[priority.index()] - 62;
      if (generators[priority.index()] == nullptr)
        generators[priority.index()] = std::make_unique<TrafficGenerator>(std::vector{f}, std::vector<RxFlowConfig>{});
      generators[priority.index()]->send(now, priority, frames.subspan(n, 1));
      frames[n].flow = priority.value;
    }
    if (left[priority.index()] == 0) classes = static_cast<PriorityMask>(classes & ~bit(priority));
    return n;
  }
  bool receive(std::span<const RxFrame> frames) override {
    for (const RxFrame& f : frames) {
      Arrived a{f.at, f.sent, {f.header.begin(), f.header.end()}, f.payload, {}, f.icrc_pending};
      a.octets.assign(f.payload.real().begin(), f.payload.real().end());
      a.payload.bytes = nullptr;
      arrived.push_back(std::move(a));
    }
    ++bursts;
    return on_receive ? on_receive() : false;
  }
  bool takes_everything() const noexcept override { return everything; }

  struct Arrived {
    Instant at;
    Instant sent;
    std::vector<std::byte> header;
    PayloadRef payload;
    std::vector<std::byte> octets;
    bool icrc_pending;
    bool operator==(const Arrived& o) const { return at == o.at && sent == o.sent && header == o.header; }
  };
  PriorityMask classes = 0;
  Instant begins{};
  std::array<std::uint64_t, kPriorities> left{1u << 30, 1u << 30, 1u << 30, 1u << 30,
                                              1u << 30, 1u << 30, 1u << 30, 1u << 30};
  std::array<std::uint32_t, kPriorities> octets{1002, 1002, 1002, 1002, 1002, 1002, 1002, 1002};
  std::array<std::unique_ptr<TrafficGenerator>, kPriorities> generators;
  std::vector<Arrived> arrived;
  std::size_t bursts = 0;
  std::size_t asked = 0;
  bool everything = false;
  std::function<bool()> on_receive;
};

inline HostConfig host_config(std::size_t nics = 1) {
  HostConfig c;
  for (std::size_t n = 0; n < nics; ++n) {
    NicConfig& nic = c.nics.emplace_back();
    nic.mac = mac(static_cast<std::uint8_t>(1 + n));
    nic.address_v4 = ip("10.0.0.1");
    nic.address_v4->octets[14] = static_cast<std::uint8_t>(n);
    nic.address_v6 = ip("2001:db8::1");
    nic.address_v6->octets[5] = static_cast<std::uint8_t>(n);
  }
  return c;
}

inline std::vector<NicDriver> drivers(std::unique_ptr<Endpoint> endpoint) {
  std::vector<NicDriver> d(1);
  d[0].endpoint = std::move(endpoint);
  return d;
}

// A host with one NIC at a bare wire.
class Rig {
 public:
  explicit Rig(HostConfig config = host_config(), WireLink link = {})
      : Rig(std::move(config), std::make_unique<Source>(), link) {}
  Rig(HostConfig config, std::unique_ptr<Source> s, WireLink link)
      : source(*s), host(DeviceId{0}, "h", std::move(config), drivers(std::move(s))) {
    wire.connect(host, std::vector{link});
  }
  Packet* frame(FrameSpec spec) {
    if (spec.to == FrameSpec{}.to) spec.to = mac(1);
    if (spec.destination == FrameSpec{}.destination) spec.destination = ip("10.0.0.1");
    return test::make_frame(wire.pool(), FecTable{}, spec);
  }
  Instant send(Duration start, const FrameSpec& spec = {.frame_octets = 1000}) {
    return wire.send(kPort, at(start), frame(spec));
  }
  void pause(Duration when, PriorityMask classes, std::uint16_t quanta) {
    std::array<std::uint16_t, kPriorities> q{};
    q.fill(quanta);
    ASSERT_EQ(wire.send_pfc(kPort, at(when - kPfcEffect), classes, q), at(when));
  }
  void run(Duration until) { host.advance(at(until)); }
  std::vector<Instant> starts(std::optional<Priority> of = {}) {
    std::vector<Instant> out;
    for (const Sent& s : wire.sent_data(kPort))
      if (!of || s.packet.traffic_class_octet >> 5 == of->value) out.push_back(s.start);
    return out;
  }
  ClassCounters count(std::uint8_t c) const { return host.counters().ports[0].classes[c]; }
  std::uint64_t drops(std::uint8_t c, DropReason r) const { return count(c).drops[static_cast<std::size_t>(r)]; }

  Source& source;
  Host host;
  Wire wire;
};

// The host takes 10 Gb/s, a frame of 1000 octets in 800 ns. XOFF at 4000 octets, XON at 2000, room for 10,000.
inline HostConfig slow_config() {
  HostConfig c = host_config();
  c.nics[0].receive = {.rate = 10_Gbps, .capacity = {10'000}, .xoff = {4'000}, .xon = {2'000}};
  c.pause_quanta = 1000;
  return c;
}

}  // namespace railyard
