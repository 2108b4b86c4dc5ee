// The instants at which QPs or PDCs want to be looked at, the earliest first.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "dataplane/base/time.h"
#include "dataplane/base/units.h"

namespace railyard {

// Wakes of the same instant come in the order of their slots, timers first: in one order, whatever it was they were put
// in.
struct Wake {
  Instant at{};
  std::uint32_t slot = 0;
  bool paced = false;  // its data may go; else its timer

  bool operator==(const Wake&) const = default;
};

// A ladder queue (Tang, Goh, Thng: "Ladder queue: an O(1) priority queue structure for large-scale discrete event
// simulation", ACM TOMACS 15(3), 2005). The next few are sorted and at hand. Of the later ones it is only known in
// which bucket of time they are; a bucket whose turn comes is spread over finer ones until it has few enough to be
// sorted. So with 20,000 wakes each is moved three times or four, within memory that lies in a row, where a heap would
// look at a line here and there on each of its levels.
//
//   near_ (sorted) | rungs_[depth - 1] | ... | rungs_[0] | far_ (as it came)        -> later
class WakeQueue {
 public:
  // So many of those that come next are in order.
  static constexpr std::size_t kAtHand = 16;

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }
  // Undefined when empty, as pop().
  Wake top() const noexcept { return near_[head_].wake(); }
  // What is top after `i` calls of pop(), i < kAtHand. nullopt: there is none, or it is not known yet.
  std::optional<Wake> next(std::size_t i) const noexcept {
    return i < at_hand() ? std::optional(near_[head_ + i].wake()) : std::nullopt;
  }

  // Allocates only while there are more than ever before.
  void push(const Wake& wake) {
    const Node node(wake);
    if (size_++ == 0) start_over();
    if (node.key() > last_near_) return put_aside(node);
    insert(node);
    if (at_hand() > kMostNear) spill();
  }
  void pop() noexcept {
    ++head_;
    --size_;
    if (at_hand() < kAtHand && size_ > at_hand()) refill();
  }

 private:
  // What they are sorted by: the instant, then what wants to be woken.
  using Key = UInt128;
  static constexpr Key kEnd = ~Key{0};
  struct Node {
    Instant at;
    std::uint32_t what = 0;  // slot, and paced

    Node() = default;
    explicit Node(const Wake& w) noexcept : at(w.at), what(w.slot << 1 | (w.paced ? 1u : 0u)) {}
    Wake wake() const noexcept { return {at, what >> 1, (what & 1) != 0}; }
    // In the order of signed instants.
    Key key() const noexcept { return Key{static_cast<std::uint64_t>(at.ps) ^ std::uint64_t{1} << 63} << 32 | what; }
  };

  // A bucket's nodes are in chunks of two cache lines each, out of one pool.
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct alignas(64) Chunk {
    std::uint32_t next = kNone;
    std::uint32_t used = 0;
    std::array<Node, 7> nodes;
  };
  struct Bucket {
    std::uint32_t first = kNone;  // the chunk that is filled
    std::uint32_t nodes = 0;
  };
  static constexpr std::size_t kBuckets = 64;
  // Buckets of 2^shift keys each, from `start` to `last`.
  struct Rung {
    Key start = 0;
    Key last = 0;
    int shift = 0;
    std::uint64_t filled = 0;  // buckets with something in them
    std::array<Bucket, kBuckets> buckets{};
  };
  static constexpr std::size_t kMostNear = 64;
  static constexpr std::size_t kMostRungs = 12;

  std::size_t at_hand() const noexcept { return near_.size() - head_; }
  void start_over() noexcept {
    last_near_ = kEnd;
    depth_ = 0;
  }
  void insert(const Node& node) {
    make_room();
    near_.push_back(node);
    std::size_t at = near_.size() - 1;
    for (const Key key = node.key(); at > head_ && key < near_[at - 1].key(); --at) near_[at] = near_[at - 1];
    near_[at] = node;
  }
  void make_room() noexcept;
  void put_aside(const Node& node);
  void put_far(const Node& node);
  void put_into(Bucket& bucket, const Node& node);
  void put_on(Rung& rung, const Node& node);
  void spill();
  void refill();
  void next_bucket(Rung& rung);
  Rung& begin_rung(Key start, Key last, std::size_t nodes);
  void spread(Bucket bucket, Rung& rung);
  void take(Bucket bucket);
  void prefetch(std::uint32_t chunk) const noexcept;  // kNone: nothing
  void free_chunk(std::uint32_t chunk) noexcept;

  std::vector<Node> near_;  // sorted, from head_ on
  std::size_t head_ = 0;
  std::size_t size_ = 0;
  Key last_near_ = kEnd;     // up to here all are in near_
  std::vector<Rung> rungs_;  // each covers what is left of a bucket of the one before; `depth_` of them are in use
  std::size_t depth_ = 0;
  Bucket far_;  // beyond the rungs
  Key far_first_ = kEnd, far_last_ = 0;
  std::vector<Chunk> chunks_;
  std::uint32_t free_ = kNone;  // chunks
};

}  // namespace railyard
