// Probes of all pairs of NICs, round by round: probe.
#pragma once

#include <cstdint>
#include <optional>

#include "dataplane/base/ratio.h"
#include "dataplane/base/time.h"

namespace railyard::spec {

struct ProbeSpec {
  Duration every{600'000'000'000'000};  // 10 min
  int dscp = 8;                         // CS1: below best effort (RFC 3662)
  std::optional<int> priority{};        // class at the NIC; nothing: what its QoS profile makes of the DSCP
  std::uint32_t payload = 4096;         // octets per frame, a multiple of 4
  int frames = 64;                      // of a pair, back to back
  int history = 144;                    // rounds that are kept
  Ratio below{1, 10};                   // so much less than the median of its history makes a pair slow

  bool operator==(const ProbeSpec&) const = default;
};

}  // namespace railyard::spec
