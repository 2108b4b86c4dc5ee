#include "transports/roce/gather.h"

#include <algorithm>

namespace railyard::roce {
namespace {

// Calls `visit(address, key, octets, done)` for each run of octets that one piece holds; `done` of them came before.
// Stops at the first error.
template <class Visit>
std::expected<void, AccessError> for_each_run(const SgeList& pieces, std::uint64_t offset, std::uint32_t octets,
                                              Visit visit) {
  std::uint32_t done = 0;
  for (const Sge& piece : pieces) {
    if (done == octets) break;
    if (offset >= piece.octets) {
      offset -= piece.octets;
      continue;
    }
    const auto here = static_cast<std::uint32_t>(std::min<std::uint64_t>(piece.octets - offset, octets - done));
    if (auto result = visit(piece.address + offset, piece.l_key, here, done); !result) return result;
    done += here;
    offset = 0;
  }
  return {};
}

}  // namespace

std::byte* BounceBuffers::next() {
  if (used_ == buffers_.size()) buffers_.push_back(std::make_unique<std::byte[]>(kOctets));
  return buffers_[used_++].get();
}

std::expected<PayloadRef, AccessError> gather(const MemoryRegions& memory, ProtectionDomain domain,
                                              const SgeList& pieces, std::uint64_t offset, std::uint32_t octets,
                                              BounceBuffers& bounce) {
  PayloadRef payload{};
  // Most messages are one piece.
  if (const Sge& piece = *pieces.begin(); pieces.size() == 1 && octets > 0 && offset + octets <= piece.octets) [[likely]] {
    const auto at = memory.check(piece.l_key, domain, piece.address + offset, octets, {});
    if (!at) return std::unexpected(at.error());
    return payload_at(*at, octets);
  }
  std::byte* whole = nullptr;
  const auto result = for_each_run(pieces, offset, octets,
                                   [&](std::uint64_t address, std::uint32_t key, std::uint32_t here,
                                       std::uint32_t done) -> std::expected<void, AccessError> {
                                     const auto at = memory.check(key, domain, address, here, {});
                                     if (!at) return std::unexpected(at.error());
                                     if (here == octets) {
                                       payload = payload_at(*at, here);
                                       return {};
                                     }
                                     if (whole == nullptr) whole = bounce.next();
                                     place(whole + done, payload_at(*at, here));
                                     return {};
                                   });
  if (!result) return std::unexpected(result.error());
  if (whole != nullptr) payload.bytes = whole;
  payload.octets = octets;
  return payload;
}

std::expected<void, AccessError> scatter(const MemoryRegions& memory, ProtectionDomain domain, const SgeList& pieces,
                                         std::uint64_t offset, const PayloadRef& payload) noexcept {
  const auto check = [&](std::uint64_t address, std::uint32_t key, std::uint32_t here,
                         std::uint32_t) -> std::expected<void, AccessError> {
    const auto at = memory.check(key, domain, address, here, Access::kLocalWrite);
    if (!at) return std::unexpected(at.error());
    return {};
  };
  if (auto checked = for_each_run(pieces, offset, payload.octets, check); !checked) return checked;
  return for_each_run(pieces, offset, payload.octets,
                      [&](std::uint64_t address, std::uint32_t key, std::uint32_t here,
                          std::uint32_t done) -> std::expected<void, AccessError> {
                        place(memory.check(key, domain, address, here, Access::kLocalWrite)->memory,
                              part_of(payload, done, here));
                        return {};
                      });
}

}  // namespace railyard::roce
