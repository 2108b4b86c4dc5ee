// A binary search over the steps 0..last for the highest with which something holds, which is expected to hold for all
// below one that it holds for. After RFC 2544 §26.1 the last is tried first: often nothing else is needed.
#pragma once

#include <cstdint>
#include <optional>

namespace railyard::sweep {

class Bisection {
 public:
  // `last`: at least 1.
  explicit Bisection(std::uint64_t last) noexcept : fails_(last + 1) {}

  // The step to try; nothing: the answer is known.
  std::optional<std::uint64_t> next() const noexcept;
  // What came of next().
  void tell(bool holds) noexcept;
  // The highest step that was tried and held; nothing: not even 0, or not known yet.
  std::optional<std::uint64_t> best() const noexcept { return holds_; }

 private:
  bool tried_any_ = false;
  std::optional<std::uint64_t> holds_;  // the highest known to
  std::uint64_t fails_;                 // the lowest known not to, or the first that there is not
};

}  // namespace railyard::sweep
