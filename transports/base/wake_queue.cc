#include "transports/base/wake_queue.h"

#include <algorithm>
#include <bit>

namespace railyard {
namespace {

int bit_width(UInt128 value) noexcept {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(static_cast<std::uint64_t>(value));
}

}  // namespace

void WakeQueue::make_room() noexcept {
  if (head_ == near_.size()) {
    near_.clear();
    head_ = 0;
  } else if (head_ >= kMostNear && 2 * head_ >= near_.size()) {
    near_.erase(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
}

// Of later than `last_near_`: on the last rung that reaches so far.
void WakeQueue::put_aside(const Node& node) {
  for (std::size_t d = depth_; d-- > 0;)
    if (node.key() <= rungs_[d].last) return put_on(rungs_[d], node);
  put_far(node);
}

void WakeQueue::put_far(const Node& node) {
  far_first_ = std::min(far_first_, node.key());
  far_last_ = std::max(far_last_, node.key());
  put_into(far_, node);
}

void WakeQueue::put_on(Rung& rung, const Node& node) {
  const auto i = static_cast<std::size_t>((node.key() - rung.start) >> rung.shift);
  rung.filled |= std::uint64_t{1} << i;
  put_into(rung.buckets[i], node);
}

void WakeQueue::put_into(Bucket& bucket, const Node& node) {
  if (bucket.first == kNone || chunks_[bucket.first].used == chunks_[bucket.first].nodes.size()) {
    std::uint32_t chunk = free_;
    if (chunk == kNone) {
      chunk = static_cast<std::uint32_t>(chunks_.size());
      chunks_.emplace_back();
    } else {
      free_ = chunks_[chunk].next;
    }
    chunks_[chunk].used = 0;
    chunks_[chunk].next = bucket.first;
    bucket.first = chunk;
  }
  Chunk& chunk = chunks_[bucket.first];
  chunk.nodes[chunk.used++] = node;
  ++bucket.nodes;
}

void WakeQueue::prefetch(std::uint32_t chunk) const noexcept {
  if (chunk == kNone) return;
  const auto* const first = reinterpret_cast<const std::byte*>(&chunks_[chunk]);
  for (std::size_t at = 0; at < sizeof(Chunk); at += alignof(Chunk)) __builtin_prefetch(first + at);
}

void WakeQueue::free_chunk(std::uint32_t chunk) noexcept {
  chunks_[chunk].next = free_;
  free_ = chunk;
}

// Too many to be kept sorted: the later ones wait in a bucket again.
void WakeQueue::spill() {
  if (depth_ == kMostRungs) return;
  std::size_t keep = head_ + 2 * kAtHand;
  while (keep > head_ && near_[keep - 1].key() == near_[keep].key()) --keep;
  if (keep == head_) return;
  const Key last = last_near_;
  last_near_ = near_[keep - 1].key();
  Rung* const rung = depth_ == 0 ? nullptr : &begin_rung(last_near_ + 1, last, near_.size() - keep);
  for (std::size_t i = keep; i < near_.size(); ++i) {
    if (rung == nullptr) {
      put_far(near_[i]);
    } else {
      put_on(*rung, near_[i]);
    }
  }
  near_.resize(keep);
}

// It ends with a bucket's nodes: up to the end of that bucket all are in near_ then.
void WakeQueue::refill() {
  while (at_hand() < kAtHand && size_ > at_hand()) {
    if (depth_ > 0) {
      next_bucket(rungs_[depth_ - 1]);
      continue;
    }
    const Bucket far = far_;
    far_ = {};
    if (far.nodes <= kMostNear) {
      take(far);
      last_near_ = kEnd;
    } else {
      spread(far, begin_rung(far_first_, far_last_, far.nodes));
    }
    far_first_ = kEnd;
    far_last_ = 0;
  }
}

void WakeQueue::next_bucket(Rung& rung) {
  if (rung.filled == 0) {
    --depth_;
    return;
  }
  const auto i = static_cast<std::size_t>(std::countr_zero(rung.filled));
  rung.filled &= rung.filled - 1;
  const Bucket bucket = rung.buckets[i];
  rung.buckets[i] = {};
  // The one behind it was filled long ago.
  if (rung.filled != 0) prefetch(rung.buckets[static_cast<std::size_t>(std::countr_zero(rung.filled))].first);
  const Key first = rung.start + (Key{i} << rung.shift);
  const Key last = std::min(rung.last, first + ((Key{1} << rung.shift) - 1));
  if (bucket.nodes <= kMostNear / 2 || rung.shift == 0 || depth_ == kMostRungs) {
    take(bucket);
    last_near_ = last;
  } else {
    spread(bucket, begin_rung(first, last, bucket.nodes));
  }
}

// As many buckets as give them some nodes each.
WakeQueue::Rung& WakeQueue::begin_rung(Key start, Key last, std::size_t nodes) {
  if (rungs_.size() == depth_) rungs_.emplace_back();
  const std::size_t buckets = std::clamp(std::bit_ceil(nodes / 4), std::size_t{2}, kBuckets);
  Rung& rung = rungs_[depth_++];
  rung.start = start;
  rung.last = last;
  rung.shift = std::max(0, bit_width(last - start) - std::countr_zero(buckets));
  return rung;
}

void WakeQueue::spread(Bucket bucket, Rung& rung) {
  for (std::uint32_t c = bucket.first; c != kNone;) {
    const Chunk chunk = chunks_[c];
    free_chunk(c);
    prefetch(chunk.next);
    for (std::uint32_t i = 0; i < chunk.used; ++i) put_on(rung, chunk.nodes[i]);
    c = chunk.next;
  }
}

void WakeQueue::take(Bucket bucket) {
  make_room();
  const auto old = static_cast<std::ptrdiff_t>(near_.size());
  for (std::uint32_t c = bucket.first; c != kNone;) {
    const Chunk& chunk = chunks_[c];
    near_.insert(near_.end(), chunk.nodes.begin(), chunk.nodes.begin() + chunk.used);
    const std::uint32_t next = chunk.next;
    free_chunk(c);
    c = next;
  }
  std::sort(near_.begin() + old, near_.end(), [](const Node& a, const Node& b) { return a.key() < b.key(); });
}

}  // namespace railyard
