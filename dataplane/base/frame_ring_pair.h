// The memory that an application shares with the fabric for one NIC: a page of state, then the ring of frames to the
// host, then the rings to the fabric, one per traffic class.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "dataplane/base/frame_ring.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/traffic_figures.h"

namespace railyard {

struct FrameRingState {
  std::atomic<std::uint32_t> link_up;   // written by the fabric: 1: the NIC's link to the fabric is up
  alignas(64) TrafficFigures figures;  // written by the application
};

struct FrameRingPairGeometry {
  FrameRingGeometry to_fabric{};  // of each class
  FrameRingGeometry to_host{};

  static constexpr std::size_t kStateOctets = 4096;
  static_assert(sizeof(FrameRingState) <= kStateOctets);

  bool operator==(const FrameRingPairGeometry&) const = default;
  constexpr bool valid() const noexcept { return to_fabric.valid() && to_host.valid(); }
  constexpr std::size_t octets() const noexcept { return kStateOctets + to_host.octets() + kPriorities * to_fabric.octets(); }

  static FrameRingState& state(std::byte* memory) noexcept { return *reinterpret_cast<FrameRingState*>(memory); }
  std::byte* ring_to_host(std::byte* memory) const noexcept { return memory + kStateOctets; }
  // The first of kPriorities (class_rings.h).
  std::byte* rings_to_fabric(std::byte* memory) const noexcept { return memory + kStateOctets + to_host.octets(); }
};

}  // namespace railyard
