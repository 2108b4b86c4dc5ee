// A capture of one port of a lab that is live: what the engine sees, handed to another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/payload_ref.h"
#include "dataplane/capture/capture_direction.h"
#include "dataplane/capture/pcapng_blocks.h"
#include "dataplane/capture/record_ring.h"
#include "dataplane/device/tap.h"

namespace railyard {

struct LiveTapConfig {
  CaptureDirection direction = CaptureDirection::kBoth;
  std::uint32_t snap_octets = 0;  // of every frame, 0: all
  std::uint64_t limit = 0;        // frames that are captured, then no more; 0: no limit
  std::size_t ring_octets = std::size_t{16} << 20;
};

// The worker that runs the device copies what of a frame is there, as far as the snap length asks for it, and does
// nothing else: synthetic payload and the ICRC are made real by the thread that reads. It never waits; a frame that the
// ring has no room for is counted as lost.
class LiveTap final : public Tap {
 public:
  explicit LiveTap(const LiveTapConfig& config);

  void see(Instant at, const Packet& packet, const TapNote& note) override;

  // Adds the oldest frame, with the comments of a CaptureTap, to `blocks`, which have the same snap length; false if
  // there is none. By one thread, which need not be the one above; so are all below by any.
  bool read(PcapngBlocks& blocks, PcapngBlocks::InterfaceId interface);

  std::uint64_t captured() const noexcept { return captured_.read(); }
  std::uint64_t lost() const noexcept { return lost_.read(); }
  bool limit_reached() const noexcept { return config_.limit != 0 && captured() >= config_.limit; }

 private:
  // In front of a frame's octets in the ring.
  struct Record {
    Instant at;
    PayloadRef payload;  // what the reader is to make of it; of synthetic payload, no octets follow
    TapNote note;
    std::uint32_t original_octets;  // of the frame, without FCS
    std::uint32_t header_octets;    // that follow
    std::uint32_t hops;             // of in-band telemetry, between this and the headers
    FrameKind kind;
    bool elided;
    bool icrc;       // behind the payload
    bool telemetry;  // PathTelemetry is at the end
  };

  LiveTapConfig config_;
  RecordRing ring_;
  Counter captured_;
  Counter lost_;
  std::vector<std::byte> octets_;  // the reader's
};

}  // namespace railyard
