// A switch between bare channels. Port p is 02:00:00:00:00:10 + p, its peer 02:00:00:00:00:20 + p; 10.0.<p>.0/24 and
// 2001:db8:<p>::/64 lie behind it. The switch itself is 192.0.2.1 and 2001:db8:ffff::1.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dataplane/switch/switch.h"
#include "tests/support/books.h"
#include "tests/support/instant.h"
#include "tests/support/wire.h"

namespace railyard {

using namespace literals;
using test::FrameSpec;
using test::Sent;
using test::VlanTag;
using test::Wire;
using test::WireLink;

constexpr PortIndex port(std::uint16_t p) { return PortIndex{p}; }
constexpr Priority cls(std::uint8_t c) { return Priority{c}; }

// Where most scenarios send in, where it goes out, and a third port.
constexpr PortIndex kIn = port(0);
constexpr PortIndex kOut = port(1);
constexpr PortIndex kOther = port(2);

// 100 Gb/s: frames of 1000 octets, 4 cells of 256, every 81.6 ns; each takes effect 680.64 ns after its start. A PFC
// frame takes effect 5.76 ns and the standard's 394 quanta of 5.12 ns after its start.
constexpr Duration kEffect{680'640};
constexpr Duration kSlot{81'600};
constexpr Duration kQuantum{5'120};
constexpr Duration kResponse = 394 * kQuantum;
constexpr Duration kPfcEffect = Duration{5'760} + kResponse;

inline wire::MacAddress mac_of(PortIndex p) { return test::mac(static_cast<std::uint8_t>(0x10 + p.value)); }
inline wire::MacAddress peer_of(PortIndex p) { return test::mac(static_cast<std::uint8_t>(0x20 + p.value)); }
// Host `n` behind a port.
inline wire::IpAddress host(PortIndex p, std::uint8_t n = 1) {
  return wire::IpAddress{0x0A000000u | static_cast<std::uint32_t>(p.value) << 8 | n};
}
inline wire::IpAddress host6(PortIndex p, std::uint8_t n = 1) {
  wire::IpAddress a = test::ip("2001:db8::");
  a.octets[5] = static_cast<std::uint8_t>(p.value);
  a.octets[15] = n;
  return a;
}
inline const wire::IpAddress kLoopback = test::ip("192.0.2.1");
inline const wire::IpAddress kLoopback6 = test::ip("2001:db8:ffff::1");

// Everything but what the test is about is out of the way: a large buffer, all classes lossy with the largest alpha.
inline SwitchConfig switch_config(std::size_t ports) {
  SwitchConfig c;
  std::vector<wire::IpPrefix> prefixes;
  const auto add = [&](const wire::IpPrefix& prefix, std::vector<PortIndex> to) {
    prefixes.push_back(prefix);
    c.routes.push_back({prefix, std::move(to)});
  };
  for (std::uint16_t p = 0; p < ports; ++p) {
    SwitchPortConfig& config = c.ports.emplace_back();
    config.mac = mac_of(port(p));
    config.peer_mac = peer_of(port(p));
    config.gateway_v4 = host(port(p), 254);
    config.gateway_v6 = host6(port(p), 254);
    for (SwitchClassConfig& k : config.classes) k.buffer.alpha = k.buffer.queue_alpha = {Alpha::kMost};
    add(wire::IpPrefix::of(host(port(p)), 96 + 24), {port(p)});
    add(wire::IpPrefix::of(host6(port(p)), 64), {port(p)});
  }
  add(wire::IpPrefix::of(kLoopback, 128), {});
  add(wire::IpPrefix::of(kLoopback6, 128), {});
  c.loopback_v4 = kLoopback;
  c.loopback_v6 = kLoopback6;
  c.latency = 600_ns;
  c.fecs = std::make_shared<const FecTable>(prefixes);
  return c;
}

class SwitchRig {
 public:
  explicit SwitchRig(SwitchConfig config = switch_config(3), std::vector<WireLink> links = {})
      : fecs_(config.fecs), sw(DeviceId{0}, "sw", std::move(config)) {
    links.resize(sw.ports());
    wire.connect(sw, links);
  }

  // A frame as the peer of `in` sends it: to the port's MAC, from host 1 behind it to host 1 behind port 1.
  Packet* frame(PortIndex in, FrameSpec spec) {
    if (spec.to == FrameSpec{}.to) spec.to = mac_of(in);
    if (spec.from == FrameSpec{}.from) spec.from = peer_of(in);
    if (spec.source == FrameSpec{}.source) spec.source = host(in);
    return test::make_frame(wire.pool(), *fecs_, spec);
  }
  // Its transmission begins at `start`; returns when it takes effect.
  Instant send(PortIndex in, Duration start, const FrameSpec& spec = {}) {
    return wire.send(in, at(start), frame(in, spec));
  }
  Instant send_octets(PortIndex in, Duration start, std::span<const std::byte> octets) {
    return wire.send(in, at(start), test::make_frame(wire.pool(), *fecs_, octets));
  }
  void run(Duration until) { sw.advance(at(until)); }

  ClassCounters count(PortIndex p, Priority c) const { return sw.counters().ports[p.index()].classes[c.index()]; }
  std::uint64_t drops(PortIndex p, Priority c, DropReason reason) const {
    return count(p, c).drops[static_cast<std::size_t>(reason)];
  }
  // Of the whole switch.
  std::uint64_t drops(DropReason reason) const {
    std::uint64_t sum = 0;
    for (const PortCounters& p : sw.counters().ports) {
      sum += p.drops[static_cast<std::size_t>(reason)];
      for (const ClassCounters& k : p.classes) sum += k.drops[static_cast<std::size_t>(reason)];
    }
    return sum;
  }

 private:
  std::shared_ptr<const FecTable> fecs_;

 public:
  Switch sw;
  Wire wire;  // checks the books when it goes, before the switch does
};

}  // namespace railyard
