#include "dataplane/base/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "dataplane/base/assert.h"
#include "dataplane/base/state_archive.h"

namespace railyard {

void Histogram::Free::operator()(std::uint64_t* p) const noexcept { std::free(p); }

void Histogram::allocate() noexcept {
  // calloc leaves untouched pages unmapped, so that a thousand flows do not cost a thousand full histograms.
  buckets_.reset(static_cast<std::uint64_t*>(std::calloc(kBuckets, sizeof(std::uint64_t))));
  RAILYARD_ASSERT(buckets_ != nullptr, "out of memory for a histogram");
}

std::uint64_t Histogram::highest_in(std::uint32_t bucket) noexcept {
  if (bucket < kSubBuckets) return ((static_cast<std::uint64_t>(bucket) + 1) << kUnitBits) - 1;
  const unsigned shift = (bucket >> kSubBits) - 1;
  const std::uint64_t units = (static_cast<std::uint64_t>(kSubBuckets) | (bucket & (kSubBuckets - 1)));
  return ((units + 1) << (shift + kUnitBits)) - 1;  // wraps to 2^64 - 1 in the last bucket, as it should
}

std::uint64_t Histogram::percentile(double fraction) const noexcept {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(std::ceil(std::clamp(fraction, 0.0, 1.0) * static_cast<double>(count_)));
  const std::uint64_t wanted = std::max<std::uint64_t>(rank, 1);
  std::uint64_t seen = 0;
  for (std::uint32_t b = bucket_of(min_), last = bucket_of(max_); b <= last; ++b) {
    seen += buckets_[b];
    if (seen >= wanted) return std::min(highest_in(b), max_);
  }
  return max_;
}

std::uint64_t Histogram::count_up_to(std::uint64_t value) const noexcept {
  if (count_ == 0 || value < min_) return 0;
  if (value >= max_) return count_;
  std::uint64_t seen = 0;
  for (std::uint32_t b = bucket_of(min_), last = bucket_of(value); b <= last; ++b) seen += buckets_[b];
  return seen;
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  if (buckets_ == nullptr) allocate();
  for (std::uint32_t b = bucket_of(other.min_), last = bucket_of(other.max_); b <= last; ++b)
    buckets_[b] += other.buckets_[b];
  count_ += other.count_;
  sum_ += other.sum_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

// Of the buckets those between the least and the largest value.
void Histogram::exchange(StateArchive& archive) {
  if (archive.reads()) *this = {};
  archive(count_, min_, max_, sum_);
  if (count_ == 0) return;
  if (buckets_ == nullptr) allocate();
  const std::uint32_t first = bucket_of(min_);
  archive.octets(&buckets_[first], (bucket_of(max_) - first + std::size_t{1}) * sizeof(std::uint64_t));
}

}  // namespace railyard
