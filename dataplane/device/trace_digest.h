// A fingerprint of everything that left every device: two runs with the same digest sent the same octets at the same
// instants.
#pragma once

#include <cstdint>

#include "dataplane/base/hash.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/time.h"
#include "dataplane/packet/carried_telemetry.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// The sum (mod 2^64) of one hash per departure, over device, port, instant, all header octets and the payload's
// identity. A sum, because devices run in any order; order in time is in the instants.
class TraceDigest {
 public:
  void departure(DeviceId device, PortIndex port, Instant at, const Packet& packet) noexcept {
    std::uint64_t h = mix64((std::uint64_t{device.value} << 16 | port.value) + 0x9E3779B97F4A7C15ull);
    h = fold_multiply(h ^ static_cast<std::uint64_t>(at.ps), 0xD6E8FEB86659FD93ull);
    h = fold_multiply(h ^ packet.stream, 0xA24BAED4963EE407ull);
    h = fold_multiply(h ^ packet.offset, 0x9FB21C651E98DF25ull);
    h = fold_multiply(h ^ (std::uint64_t{packet.payload_octets} << 32 | packet.frame_octets), 0xD6E8FEB86659FD93ull);
    if (packet.telemetry != 0) [[unlikely]]
      h = hash_octets({telemetry_at(packet), telemetry_of(packet).octets()}, h);
    sum_ += hash_octets(packet.header_span(), h);
  }

  void add(TraceDigest other) noexcept { sum_ += other.sum_; }
  std::uint64_t value() const noexcept { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

}  // namespace railyard
