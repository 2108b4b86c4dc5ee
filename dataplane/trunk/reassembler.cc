#include "dataplane/trunk/reassembler.h"

#include <cstring>

#include "dataplane/base/assert.h"

namespace railyard {
namespace {

constexpr std::uint64_t all_of(std::uint32_t fragments) noexcept { return ~std::uint64_t{0} >> (64 - fragments); }

// Numbers wrap around; those that are forgotten in time are never half the circle apart.
constexpr bool is_before(std::uint32_t a, std::uint32_t b) noexcept { return static_cast<std::int32_t>(a - b) < 0; }

}  // namespace

Reassembler::Reassembler(Duration patience, std::size_t most_whole)
    : patience_(patience), buffers_(kMostAtOnce + most_whole) {
  for (std::uint32_t i = 0; i < kMostAtOnce; ++i) slots_[i].buffer = i;
  spare_.reserve(most_whole);
  whole_.reserve(most_whole);
  for (std::size_t i = 0; i < most_whole; ++i) spare_.push_back(static_cast<std::uint32_t>(kMostAtOnce + i));
}

std::span<const std::byte> Reassembler::put(Instant now, const TrunkFragment& f) {
  RAILYARD_ASSERT(has_room(), "no message may become whole before the last ones are recycled");
  Slot& slot = slot_of(f.message);
  if (slot.used && slot.message != f.message) {
    if (slot.until > now && is_before(f.message, slot.message)) return superfluous_.increment(), std::span<const std::byte>{};
    give_up(slot);
  }
  if (!slot.used) {
    slot.used = true;
    slot.message = f.message;
    slot.cut = f.cut;
    slot.missing = all_of(f.cut.fragments());
    slot.until = now + patience_;
    ++used_;
  } else if (slot.cut != f.cut) {
    return contradicting_.increment(), std::span<const std::byte>{};
  }
  const std::uint64_t bit = std::uint64_t{1} << f.index;
  if ((slot.missing & bit) == 0) return superfluous_.increment(), std::span<const std::byte>{};
  std::memcpy(buffers_[slot.buffer].data() + std::size_t{f.index} * f.cut.piece, f.octets.data(), f.octets.size());
  slot.missing &= ~bit;
  if (slot.missing != 0) return {};
  const std::uint32_t full = slot.buffer;
  slot.buffer = spare_.back();
  spare_.pop_back();
  whole_.push_back(full);
  return std::span(buffers_[full]).first(f.cut.message_octets);
}

void Reassembler::recycle() noexcept {
  // Never grows: reserved when it was made.
  spare_.insert(spare_.end(), whole_.begin(), whole_.end());
  whole_.clear();
}

void Reassembler::expire(Instant now) noexcept {
  if (used_ == 0) return;
  for (Slot& slot : slots_)
    if (slot.used && slot.until <= now) give_up(slot);
}

void Reassembler::forget() noexcept {
  for (Slot& slot : slots_)
    if (slot.used) give_up(slot);
}

void Reassembler::give_up(Slot& slot) noexcept {
  if (slot.missing != 0) incomplete_.increment();
  slot.used = false;
  --used_;
}

}  // namespace railyard
