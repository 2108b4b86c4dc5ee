#include "control/sweep/bisection.h"

namespace railyard::sweep {

std::optional<std::uint64_t> Bisection::next() const noexcept {
  if (!tried_any_) return fails_ - 1;
  if (!holds_) return fails_ > 0 ? std::optional<std::uint64_t>(0) : std::nullopt;
  if (fails_ - *holds_ <= 1) return std::nullopt;
  return *holds_ + (fails_ - *holds_) / 2;
}

void Bisection::tell(bool holds) noexcept {
  const std::optional<std::uint64_t> tried = next();
  if (!tried) return;
  tried_any_ = true;
  if (holds)
    holds_ = tried;
  else
    fails_ = *tried;
}

}  // namespace railyard::sweep
