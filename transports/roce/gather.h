// Local memory as work requests name it: pieces gathered into the payload of a packet, payload scattered over pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <vector>

#include "dataplane/base/payload_ref.h"
#include "transports/base/memory_regions.h"
#include "transports/base/payload_place.h"
#include "transports/roce/work_request.h"

namespace railyard::roce {

// Where the payload of a packet is put together when it lies in several pieces. What next() gave stays as it is until
// reset(). Allocates only while there are more such packets between two resets than ever before.
class BounceBuffers {
 public:
  static constexpr std::size_t kOctets = 4096;  // the largest path MTU

  std::byte* next();
  void reset() noexcept { used_ = 0; }

 private:
  std::vector<std::unique_ptr<std::byte[]>> buffers_;
  std::size_t used_ = 0;
};

// `octets` (at most BounceBuffers::kOctets) from octet `offset` of what `pieces` name together; they hold as many. What
// lies in one piece is not copied.
std::expected<PayloadRef, AccessError> gather(const MemoryRegions& memory, ProtectionDomain domain,
                                              const SgeList& pieces, std::uint64_t offset, std::uint32_t octets,
                                              BounceBuffers& bounce);

// Puts `payload` at octet `offset` of what `pieces` name together; they hold as many. Every piece concerned is checked
// before anything is written. Memory that is a promise only takes it in silence.
std::expected<void, AccessError> scatter(const MemoryRegions& memory, ProtectionDomain domain, const SgeList& pieces,
                                         std::uint64_t offset, const PayloadRef& payload) noexcept;

}  // namespace railyard::roce
