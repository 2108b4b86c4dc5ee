// A train of probe frames from one NIC to another.
#pragma once

#include <cstdint>
#include <optional>

#include "control/spec/spec.h"
#include "dataplane/base/histogram.h"
#include "dataplane/base/time.h"

namespace railyard::probes {

// What all frames of some trains have in common.
struct Shape {
  int dscp = 8;                   // CS1 (RFC 3662): below best effort
  bool ect = false;               // ECT(0), else Not-ECT
  std::optional<int> priority{};  // class at the sending NIC; nothing: what its QoS profile makes of the DSCP
  std::uint32_t payload = 4096;   // octets of a frame, a multiple of 4
  int ip_version = 4;
};

struct Train {
  spec::PortName from;
  spec::PortName to;          // of another host
  Duration start{};           // after the first one
  std::uint32_t frames = 64;  // at least 1
  Duration gap{};             // between the beginnings of frames; 0: back to back
};

struct Arrived {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;  // each frame once
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
  std::uint64_t marked = 0;  // with CE
  std::uint64_t corrupted = 0;
  Instant first_sent = Instant::never();
  Instant first = Instant::never();
  Instant last{};
  Histogram latency;  // ps, from the first octet sent to the frame handed over

  std::uint64_t lost() const noexcept { return sent > received ? sent - received : 0; }
};

// Payload rate of a train that was sent back to back, bit/s: the octets that came after the first frame / the time that
// they took. That time is at least `least`, which the frames take on the slower NIC's link: what was lost makes a train
// slow, not short. Nothing: fewer than two frames came.
std::optional<double> bps_of(const Arrived& arrived, const Shape& shape, Duration least);

}  // namespace railyard::probes
