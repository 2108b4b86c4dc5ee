#include "dataplane/wire/crc32.h"

#include <isa-l/crc.h>

namespace railyard::wire {

// ISA-L's is 2 (20 octets) to 10 (4 KiB) times as fast as zlib's 1.2.13.
std::uint32_t crc32(std::span<const std::byte> octets, std::uint32_t so_far) noexcept {
  return crc32_gzip_refl(so_far, reinterpret_cast<const unsigned char*>(octets.data()), octets.size());
}

}  // namespace railyard::wire
