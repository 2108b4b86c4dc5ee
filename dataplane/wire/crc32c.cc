#include "dataplane/wire/crc32c.h"

#include <isa-l/crc.h>

namespace railyard::wire {

std::uint32_t crc32c(std::span<const std::byte> octets, std::uint32_t so_far) noexcept {
  // ISA-L does not write there, and complements nothing.
  auto* const begin = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(octets.data()));
  return ~crc32_iscsi(begin, static_cast<int>(octets.size()), ~so_far);
}

}  // namespace railyard::wire
