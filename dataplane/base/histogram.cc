#include "dataplane/base/histogram.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "dataplane/base/state_archive.h"

namespace railyard {

void Histogram::cover(std::uint32_t first, std::uint32_t last) noexcept {
  if (size_ != 0) {
    first = std::min(first, first_);
    last = std::max(last, first_ + size_ - 1);
  }
  first &= ~(kSubBuckets - 1);
  last |= kSubBuckets - 1;
  if (size_ != 0 && first == first_ && last == first_ + size_ - 1) return;
  auto wider = std::make_unique<std::uint64_t[]>(last - first + 1);
  if (size_ != 0) std::memcpy(&wider[first_ - first], buckets_.get(), size_ * sizeof(std::uint64_t));
  buckets_ = std::move(wider);
  first_ = first;
  size_ = last - first + 1;
}

void Histogram::swap(Histogram& other) noexcept {
  std::swap(buckets_, other.buckets_);
  std::swap(first_, other.first_);
  std::swap(size_, other.size_);
  std::swap(count_, other.count_);
  std::swap(min_, other.min_);
  std::swap(max_, other.max_);
  std::swap(sum_, other.sum_);
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
    seen += buckets_[b - first_];
    if (seen >= wanted) return std::min(highest_in(b), max_);
  }
  return max_;
}

std::uint64_t Histogram::count_up_to(std::uint64_t value) const noexcept {
  if (count_ == 0 || value < min_) return 0;
  if (value >= max_) return count_;
  std::uint64_t seen = 0;
  for (std::uint32_t b = bucket_of(min_), last = bucket_of(value); b <= last; ++b) seen += buckets_[b - first_];
  return seen;
}

void Histogram::merge(const Histogram& other) {
  if (other.count_ == 0) return;
  const std::uint32_t first = bucket_of(other.min_);
  const std::uint32_t last = bucket_of(other.max_);
  cover(first, last);
  for (std::uint32_t b = first; b <= last; ++b) buckets_[b - first_] += other.buckets_[b - other.first_];
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
  const std::uint32_t first = bucket_of(min_);
  const std::uint32_t last = bucket_of(max_);
  cover(first, last);
  archive.octets(&buckets_[first - first_], (last - first + std::size_t{1}) * sizeof(std::uint64_t));
}

}  // namespace railyard
