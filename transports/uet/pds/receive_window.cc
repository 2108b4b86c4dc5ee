#include "transports/uet/pds/receive_window.h"

#include <algorithm>

#include "dataplane/base/assert.h"

namespace railyard::uet {

ReceiveWindow::ReceiveWindow(std::uint32_t range) : received_(range / 64), held_(range / 64) {
  RAILYARD_ASSERT(std::has_single_bit(range) && range >= kUnit && range <= kMost, "MP_RANGE is a power of two");
}

void ReceiveWindow::start(Psn start) noexcept {
  std::ranges::fill(received_, 0);
  std::ranges::fill(held_, 0);
  expected_ = start;
  cack_ = clear_ = highest_ = start - 1;
  beyond_ = 0;
}

void ReceiveWindow::accept(Psn psn, bool held) noexcept {
  RAILYARD_EXPENSIVE_ASSERT(place(psn) == Place::kNew, "a packet is taken once");
  if (held) set(held_, psn);
  if (psn - highest_ > 0) highest_ = psn;
  if (psn != expected_) {
    set(received_, psn);
    ++beyond_;
    return;
  }
  ++expected_;
  while (beyond_ > 0 && bit(received_, expected_)) {
    unset(received_, expected_);
    --beyond_;
    ++expected_;
  }
  advance();
}

void ReceiveWindow::advance() noexcept {
  while (expected_ - cack_ > 1 && !bit(held_, cack_ + 1)) ++cack_;
}

void ReceiveWindow::release(Psn psn) noexcept {
  unset(held_, psn);
  advance();
}

bool ReceiveWindow::hold(Psn psn) noexcept {
  if (psn - cack_ <= 0 || place(psn) != Place::kDuplicate) return false;
  set(held_, psn);
  return true;
}

bool ReceiveWindow::clear(Psn psn) noexcept {
  // Only what has come can have been answered.
  if (psn - clear_ <= 0 || psn - expected_ >= 0) return false;
  clear_ = psn;
  for (Psn p = cack_ + 1; psn - p >= 0; ++p) unset(held_, p);
  advance();
  return true;
}

std::uint64_t ReceiveWindow::sack(Psn base) const noexcept {
  const std::int32_t done = expected_ - base;
  if (done >= 64) return ~std::uint64_t{0};
  const std::int32_t room = static_cast<std::int32_t>(range()) - (base - cack_) + 1;  // as many may have come
  if (room <= 0) return 0;
  // The words of the first and the last bit.
  const unsigned shift = base.value() & 63;
  std::uint64_t bits = received_[word(base)] >> shift;
  if (shift > 0) bits |= received_[word(base + 63)] << (64 - shift);
  if (room < 64) bits &= (std::uint64_t{1} << room) - 1;
  // Before `expected` all are there, and their bits are somebody else's.
  if (done > 0) bits |= (std::uint64_t{1} << done) - 1;
  return bits;
}

}  // namespace railyard::uet
