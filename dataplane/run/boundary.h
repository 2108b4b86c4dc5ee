// Frames between devices of different processes (peers.h): packed where their sender is, taken on where their receiver
// is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <vector>

#include "dataplane/base/state_archive.h"
#include "dataplane/device/doorbell.h"
#include "dataplane/device/fabric.h"
#include "dataplane/packet/pool.h"
#include "dataplane/run/peers.h"
#include "dataplane/run/visiting_stacks.h"

namespace railyard {

// A frame goes with its metadata, its header octets and real payload, its in-band telemetry for congestion control, and if
// it is sampled with what hops have noted of it. It takes effect at the same instant as in one process. Only while the
// engine rests.
class Boundary {
 public:
  // All of them outlive it.
  Boundary(Fabric& fabric, const Parts& parts, PacketPools& pools);

  // Channels that leave this process. Frames that they hold are packed and given back to their pools.
  bool leaves(std::size_t channel) const noexcept { return leaves_[channel]; }
  // Whether `device` has such channels.
  bool borders(DeviceId device) const noexcept { return borders_[device.index()]; }
  // Processes that channels lead to from here; there is one back for each. In order.
  const std::vector<std::uint16_t>& neighbours() const noexcept { return neighbours_; }

  // Adds what has been sent to devices of process p since the last time to out[p], for each neighbour p.
  void pack(std::vector<StateArchive>& out);
  // Takes what pack() of another process has added for this one. `pool_of`: where its receiver takes packets from. False:
  // packet memory is short. Throws std::runtime_error: what has come cannot be a frame.
  bool take(StateArchive& in, const std::function<PacketPool&(DeviceId)>& pool_of);

  // In-band telemetry of sampled packets from other processes.
  VisitingStacks& visiting() noexcept { return visiting_; }

  // Frames that have left this process, and their octets as they were packed.
  std::uint64_t frames() const noexcept { return frames_; }
  std::uint64_t octets() const noexcept { return octets_; }

 private:
  void pack(Channel::Fifo& fifo, std::uint32_t channel, bool control, StateArchive& out);

  Fabric& fabric_;
  const Parts& parts_;
  PacketPools& pools_;
  VisitingStacks visiting_;
  std::vector<bool> leaves_;             // by channel
  std::vector<bool> borders_;            // by device
  std::vector<std::uint16_t> neighbours_;
  std::vector<std::uint32_t> outgoing_;  // channels
  std::deque<DoorbellWord> rung_;        // 32 of them each: data, control, data, ...
  std::uint64_t frames_ = 0;
  std::uint64_t octets_ = 0;
};

}  // namespace railyard
