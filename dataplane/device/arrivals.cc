#include "dataplane/device/arrivals.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "dataplane/base/units.h"

namespace railyard {
namespace {

constexpr std::size_t kMaxBuckets = 256;

void insertion_sort(Arrival* items, std::size_t n) noexcept {
  for (std::size_t i = 1; i < n; ++i) {
    if (items[i].key >= items[i - 1].key) continue;
    const std::uint64_t key = items[i].key;
    Packet* const packet = items[i].packet;
    std::size_t j = i;
    do {
      items[j].key = items[j - 1].key;
      items[j].packet = items[j - 1].packet;
      --j;
    } while (j > 0 && key < items[j - 1].key);
    items[j].key = key;
    items[j].packet = packet;
  }
}

}  // namespace

void ArrivalBatch::grow() {
  const std::size_t capacity = std::max<std::size_t>(64, capacity_ * 2);
  auto items = std::make_unique_for_overwrite<Arrival[]>(capacity);
  std::copy(begin(), end(), items.get());
  items_ = std::move(items);
  sorted_ = std::make_unique_for_overwrite<Arrival[]>(capacity);
  capacity_ = capacity;
}

void ArrivalBatch::sort(std::uint64_t first, std::uint64_t last) {
  if (capacity_ == 0) grow();
  if (size_ <= 12) {
    insertion_sort(items_.get(), size_);
  } else {
    // A counting sort by time into about as many buckets as items leaves little for the insertion sort to mend.
    const std::size_t buckets = std::min(std::bit_ceil(size_), kMaxBuckets);
    const std::uint64_t span = last - first + 1;
    const std::uint64_t scale = span <= buckets ? 0 : ~std::uint64_t{0} / span * buckets;
    const auto bucket_of = [&](std::uint64_t key) {
      const auto b = static_cast<std::size_t>((static_cast<UInt128>(key - first) * scale) >> 64);
      return std::min(b, buckets - 1);
    };
    std::array<std::uint32_t, kMaxBuckets + 1> place;
    std::fill_n(place.begin(), buckets + 1, 0u);
    for (std::size_t i = 0; i < size_; ++i) ++place[bucket_of(items_[i].key) + 1];
    for (std::size_t b = 1; b < buckets; ++b) place[b + 1] += place[b];
    for (std::size_t i = 0; i < size_; ++i) {
      Arrival& to = sorted_[place[bucket_of(items_[i].key)]++];
      to.key = items_[i].key;
      to.packet = items_[i].packet;
    }
    std::swap(items_, sorted_);
    insertion_sort(items_.get(), size_);
  }
  items_[size_].key = EventKey::kNone;
}

void ArrivalBatch::defer(Arrival* arrival, std::uint64_t key) noexcept {
  Arrival moved = *arrival;
  moved.key = key;
  // Behind equal keys: it was pushed after whatever is already due then. The sentinel ends the search.
  for (; arrival[1].key <= key; ++arrival) *arrival = arrival[1];
  *arrival = moved;
}

void ArrivalBatch::remove(Arrival* arrival) noexcept {
  std::copy(arrival + 1, end() + 1, arrival);  // with the sentinel
  --size_;
}

void ArrivalBatch::insert(const Arrival& arrival, std::uint64_t key) {
  if (size_ + 2 > capacity_) grow();
  std::size_t i = size_++;
  items_[i + 1].key = EventKey::kNone;
  for (; i > 0 && items_[i - 1].key > key; --i) items_[i] = items_[i - 1];
  items_[i] = arrival;
  items_[i].key = key;
}

}  // namespace railyard
