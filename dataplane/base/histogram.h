// A log-linear histogram of non-negative 64-bit values (after G. Tene's HdrHistogram).
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>

#include "dataplane/base/units.h"

namespace railyard {

class StateArchive;

// Values below 2^(kUnitBits + kSubBits) are counted to the unit of 2^kUnitBits, larger ones to within 1 / 2^kSubBits
// (1.6 %) of themselves; count, sum, min and max are exact. The caller's unit is the histogram's; latencies are
// recorded in picoseconds. There is memory for the powers of two between the smallest and the largest value only: half a KiB
// each, so that a thousand flows do not cost a thousand full histograms, nor as many pages.
class Histogram {
 public:
  static constexpr unsigned kSubBits = 6;
  static constexpr unsigned kUnitBits = 8;

  void record(std::uint64_t value) noexcept {
    const std::uint32_t bucket = bucket_of(value);
    if (bucket - first_ >= size_) [[unlikely]]
      cover(bucket, bucket);
    ++buckets_[bucket - first_];
    ++count_;
    sum_ += value;
    if (value < min_) min_ = value;
    if (value > max_) max_ = value;
  }

  // `value` will be recorded soon.
  void prefetch(std::uint64_t value) const noexcept {
    const std::uint32_t place = bucket_of(value) - first_;
    if (place < size_) __builtin_prefetch(&buckets_[place], 1);
  }

  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const noexcept { return max_; }
  double sum() const noexcept { return static_cast<double>(sum_); }
  double mean() const noexcept { return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_); }

  // The smallest recorded value v such that at least `fraction` of all values are <= v (nearest rank), rounded up to
  // the end of its bucket and never above max(). 0 when empty. `fraction` in [0, 1].
  std::uint64_t percentile(double fraction) const noexcept;

  // How many of the values are at most `value`, which counts as the end of its bucket.
  std::uint64_t count_up_to(std::uint64_t value) const noexcept;

  // Adds everything that `other` recorded.
  void merge(const Histogram& other);

  // All of it, to or from another process.
  void exchange(StateArchive& archive);

  Histogram() = default;
  Histogram(const Histogram& other) { merge(other); }
  Histogram(Histogram&& other) noexcept { swap(other); }
  Histogram& operator=(Histogram other) noexcept {
    swap(other);
    return *this;
  }
  void swap(Histogram& other) noexcept;

 private:
  static constexpr unsigned kSubBuckets = 1u << kSubBits;

  static constexpr std::uint32_t bucket_of(std::uint64_t value) noexcept {
    const std::uint64_t units = value >> kUnitBits;
    if (units < kSubBuckets) return static_cast<std::uint32_t>(units);
    const unsigned shift = static_cast<unsigned>(std::bit_width(units)) - 1 - kSubBits;
    return ((shift + 1) << kSubBits) + static_cast<std::uint32_t>((units >> shift) & (kSubBuckets - 1));
  }
  static std::uint64_t highest_in(std::uint32_t bucket) noexcept;
  // Makes room for these and all between; whole powers of two.
  void cover(std::uint32_t first, std::uint32_t last) noexcept;

  std::unique_ptr<std::uint64_t[]> buckets_;
  std::uint32_t first_ = 0;  // bucket that buckets_ begins with
  std::uint32_t size_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = ~std::uint64_t{0};
  std::uint64_t max_ = 0;
  UInt128 sum_ = 0;  // exact, so that merging in any order gives the same mean
};

}  // namespace railyard
