// Packets in plain memory of the process: for runs in which no device of DPDK reads or writes a packet itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "dataplane/packet/packet.h"

namespace railyard {

// Packets side by side, each with the mbuf that belongs to it in front, as in a mempool of DPDK. All octets are 0 at
// first. Memory is faulted in as it is touched, in transparent huge pages where the machine has them.
class MappedPackets {
 public:
  // `count` packets with `room` octets behind each Packet. std::bad_alloc if there is no memory.
  MappedPackets(std::uint32_t count, std::uint32_t room);

  std::uint32_t size() const noexcept { return count_; }
  Packet* operator[](std::uint32_t i) const noexcept;

 private:
  struct Unmap {
    std::size_t octets;
    void operator()(std::byte* begin) const noexcept;
  };

  std::uint32_t count_;
  std::size_t stride_;
  std::unique_ptr<std::byte, Unmap> memory_;
};

}  // namespace railyard
