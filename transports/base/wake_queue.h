// The instants at which QPs or PDCs want to be looked at, the earliest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "dataplane/base/time.h"

namespace railyard {

// Wakes of the same instant come in the order of their slots, timers first: in one order, whatever it was they were put
// in.
struct Wake {
  Instant at{};
  std::uint32_t slot = 0;
  bool paced = false;  // its data may go; else its timer

  bool operator==(const Wake&) const = default;
};

// A heap of four children a node, which lie in a cache line or two: with 10,000 QPs seven levels, not fourteen.
class WakeQueue {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  // Undefined when empty, as pop().
  Wake top() const noexcept { return heap_.front().wake(); }
  // Of up to `most` of those that will be top soon, in no order.
  template <class Visit>
  void visit_next(std::size_t most, Visit visit) const {
    for (std::size_t i = 0; i < most && i < heap_.size(); ++i) visit(heap_[i].wake());
  }

  // Allocates only while there are more than ever before.
  void push(const Wake& wake) {
    const Node node(wake);
    std::size_t at = heap_.size();
    heap_.push_back(node);
    for (; at > 0 && node < heap_[(at - 1) / kChildren]; at = (at - 1) / kChildren)
      heap_[at] = heap_[(at - 1) / kChildren];
    heap_[at] = node;
  }
  void pop() noexcept {
    const Node last = heap_.back();
    heap_.pop_back();
    const std::size_t size = heap_.size();
    if (size == 0) return;
    std::size_t at = 0;
    for (;;) {
      const std::size_t first = at * kChildren + 1;
      if (first >= size) break;
      const std::size_t end = first + kChildren < size ? first + kChildren : size;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child)
        if (heap_[child] < heap_[least]) least = child;
      if (!(heap_[least] < last)) break;
      heap_[at] = heap_[least];
      at = least;
    }
    heap_[at] = last;
  }

 private:
  static constexpr std::size_t kChildren = 4;
  struct Node {
    Instant at;
    std::uint32_t what;  // slot, and paced

    explicit Node(const Wake& w) noexcept : at(w.at), what(w.slot << 1 | (w.paced ? 1u : 0u)) {}
    Wake wake() const noexcept { return {at, what >> 1, (what & 1) != 0}; }
    bool operator<(const Node& o) const noexcept { return at != o.at ? at < o.at : what < o.what; }
  };
  std::vector<Node> heap_;
};

}  // namespace railyard
