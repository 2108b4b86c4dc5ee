#include "dataplane/port/cable_check.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <thread>

#include "dataplane/port/probe_frames.h"
#include "dataplane/port/received_packet.h"
#include "dataplane/wire/ethernet.h"

namespace railyard {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

// Takes what has come in, calls `each` with the octets of every frame, and returns how many there were.
template <class F>
std::size_t CableCheck::take(OutsidePort& port, F&& each) {
  std::array<Packet*, 32> packets;
  const std::size_t n = port.take(pool_, packets);
  for (std::size_t i = 0; i < n; ++i) {
    const Packet& p = *packets[i];
    const std::size_t octets = p.header_octets + std::size_t{p.payload_octets};
    // Of a giant only the first octets are there.
    if (octets <= pool_.real_octets()) each(p.header(), octets);
    pool_.release(packets[i]);
  }
  return n;
}

bool CableCheck::give(OutsidePort& port, const Octets& octets) {
  Packet* p = pool_.allocate_real();
  if (p == nullptr) return false;
  std::memcpy(p->header(), octets.data(), octets.size());
  describe_received(*p, static_cast<std::uint32_t>(octets.size()), 0, 0);
  const auto end = Clock::now() + config_.patience;
  while (port.give(pool_, {&p, 1}) == 0) {
    take(port, [](const std::byte*, std::size_t) {});  // some ports send only when they are looked at
    if (Clock::now() < end) continue;
    pool_.release(p);
    return false;
  }
  return true;
}

void CableCheck::clear() {
  for (OutsidePort* port : ports_)
    while (take(*port, [](const std::byte*, std::size_t) {}) > 0) {
    }
}

bool CableCheck::wait_for_link() {
  const auto end = Clock::now() + config_.link_patience;
  for (;;) {
    if (ports_[0]->link_up() && ports_[1]->link_up()) return true;
    if (Clock::now() >= end) return false;
    clear();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// Whether a frame comes out as it went in.
bool CableCheck::passes(std::size_t from, const Octets& octets) {
  OutsidePort& in = *ports_[from];
  OutsidePort& out = *ports_[1 - from];
  for (unsigned i = 0; i < config_.tries; ++i) {
    if (!give(in, octets)) continue;
    bool came = false;
    const auto end = Clock::now() + config_.patience;
    do {
      take(out, [&](const std::byte* frame, std::size_t n) { came |= probe::same(octets, frame, n); });
      if (!came) take(in, [](const std::byte*, std::size_t) {});
    } while (!came && Clock::now() < end);
    if (came) return true;
  }
  return false;
}

// The longest frame that passes, by halving, when the shortest does.
std::uint32_t CableCheck::longest(std::size_t from) {
  const auto tried = [&](std::uint32_t octets) { return passes(from, probe::plain(++number_, octets)); };
  std::uint32_t passed = wire::kMinFrameOctets;
  std::uint32_t failed = config_.mtu + static_cast<std::uint32_t>(wire::Ethernet::kOctets) + 1;
  // What is usual first.
  for (const std::uint32_t mtu : {config_.mtu, 9000u, 1500u}) {
    const std::uint32_t octets = mtu + static_cast<std::uint32_t>(wire::Ethernet::kOctets);
    if (octets <= passed || octets >= failed) continue;
    (tried(octets) ? passed : failed) = octets;
  }
  while (failed - passed > 1) {
    const std::uint32_t middle = passed + (failed - passed) / 2;
    (tried(middle) ? passed : failed) = middle;
  }
  return passed;
}

// Many frames in a row, never more on the way than any ring holds.
void CableCheck::count_burst(std::size_t from, CableWay& way) {
  constexpr std::uint32_t kMostOnTheWay = 128;
  constexpr std::size_t kOctets = 1024;
  OutsidePort& in = *ports_[from];
  OutsidePort& out = *ports_[1 - from];
  std::map<std::uint32_t, Octets> awaited;
  std::uint32_t last = 0;
  auto end = Clock::now() + config_.patience;
  const auto look = [&] {
    take(out, [&](const std::byte* frame, std::size_t octets) {
      const auto sent = awaited.find(probe::number_of(frame, octets));
      if (sent == awaited.end()) return;
      way.damaged += !probe::same(sent->second, frame, octets);
      way.reordered += sent->first < last;
      last = std::max(last, sent->first);
      awaited.erase(sent);
      end = Clock::now() + config_.patience;
    });
    take(in, [](const std::byte*, std::size_t) {});
  };
  for (std::uint32_t i = 0; i < config_.burst; ++i) {
    Octets octets = probe::plain(++number_, kOctets);
    if (!give(in, octets)) break;
    ++way.sent;
    awaited.emplace(number_, std::move(octets));
    do look();
    while (awaited.size() >= kMostOnTheWay && Clock::now() < end);
    // Given up, and counted.
    while (awaited.size() >= kMostOnTheWay) {
      awaited.erase(awaited.begin());
      ++way.lost;
    }
  }
  while (!awaited.empty() && Clock::now() < end) look();
  way.lost += static_cast<std::uint32_t>(awaited.size());
}

void CableCheck::take_times(std::size_t from, CableWay& way) {
  std::vector<std::chrono::nanoseconds> times;
  for (std::uint32_t i = 0; i < config_.round; ++i) {
    const Octets octets = probe::plain(++number_, 64);
    const auto began = Clock::now();
    if (passes(from, octets)) times.push_back(Clock::now() - began);
  }
  if (times.empty()) return;
  std::ranges::sort(times);
  way.latency_p50 = times[times.size() / 2];
  way.latency_p99 = times[times.size() * 99 / 100];
}

CableWay CableCheck::check(std::size_t from) {
  CableWay way;
  clear();
  way.shortest = passes(from, probe::plain(++number_, wire::kMinFrameOctets));
  if (!way.shortest) return way;
  way.largest_frame = longest(from);
  way.tagged = passes(from, probe::tagged(++number_));
  way.pfc = passes(from, probe::pfc(++number_));
  way.pause = passes(from, probe::pause(++number_));
  way.roce = passes(from, probe::roce(++number_));
  way.checksums = passes(from, probe::roce(++number_, {.bad_udp_checksum = true})) &&
                  passes(from, probe::roce(++number_, {.bad_ip_checksum = true}));
  way.ecn = true;
  for (std::uint8_t ecn = 0; ecn < 4; ++ecn) way.ecn &= passes(from, probe::roce(++number_, {.ecn = ecn}));
  count_burst(from, way);
  take_times(from, way);
  return way;
}

}  // namespace railyard
