// Payload on its way into and out of memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/base/payload_ref.h"
#include "transports/base/memory_regions.h"

namespace railyard {

// Puts `payload` at `to`; nullptr: nowhere.
void place(std::byte* to, const PayloadRef& payload) noexcept;

// `octets` from octet `offset` of `payload`, which has as many.
constexpr PayloadRef part_of(const PayloadRef& payload, std::uint32_t offset, std::uint32_t octets) noexcept {
  return {payload.stream, payload.offset + offset, octets, payload.bytes == nullptr ? nullptr : payload.bytes + offset};
}

// What lies at `at`.
constexpr PayloadRef payload_at(const MemoryRegions::Place& at, std::uint32_t octets) noexcept {
  return {at.stream, at.offset, octets, at.memory};
}

}  // namespace railyard
