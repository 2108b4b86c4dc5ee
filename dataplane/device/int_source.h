// Where packets are chosen for in-band telemetry: where they begin (INT source).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "dataplane/base/counter.h"
#include "dataplane/base/ids.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"
#include "dataplane/packet/int_stack.h"
#include "dataplane/packet/packet.h"

namespace railyard {

// Which packets. All must agree.
struct IntSampling {
  std::uint64_t one_in = 1000;  // of so many one on average; >= 1
  PriorityMask classes = 0xFF;  // at the sending NIC
  bool all_streams = true;
  std::vector<std::uint64_t> streams = {};  // else only these, sorted
};

// Chooses among the packets that a device begins to send and keeps their stacks: a fixed number of them, so that
// nothing is allocated while packets move. One writer, the worker that runs the device; all but departure() only while
// the engine rests.
class IntSource {
 public:
  // `most` packets at a time.
  explicit IntSource(std::size_t most);

  // What is chosen from now on. Stacks of packets that are still under way are not reported any more.
  void begin(Seed seed, IntSampling sampling);
  void stop() noexcept { most_ = 0; }

  // Whether it is chosen when it begins in a class of priority `priority`: by a hash of the seed and its identity, so
  // that whoever asks, and whenever, has the same answer.
  bool wants(const Packet& packet, Priority priority) const noexcept { return hit(packet) && wanted(packet, priority); }

  // `packet` begins to leave `node` by `out`.
  void departure(const std::string& node, PortIndex out, Priority priority, Instant now, Packet& packet) noexcept {
    if (wants(packet, priority)) [[unlikely]]
      choose(node, out, priority, now, packet);
  }

  // Chosen since begin(); and of them, those for which there was no room.
  std::uint64_t sampled() const noexcept { return sampled_.read(); }
  std::uint64_t not_kept() const noexcept { return not_kept_.read(); }

  // The stacks by number, for other processes (run/visiting_stacks.h): of one of its own; < slots().
  std::size_t slots() const noexcept { return free_.size() + used_.size(); }
  std::uint32_t slot_of(const IntStack& stack) const noexcept {
    return static_cast<std::uint32_t>(&stack - stacks_.get());
  }
  IntStack& at(std::uint32_t slot) noexcept { return stacks_.get()[slot]; }

  // Little room is left.
  bool crowded() const noexcept { return free_.size() < used_.size() / 3; }

  // Calls take(stack) for each that has ended since the last time, which is forgotten then.
  template <class Take>
  void take_ended(Take&& take) {
    take_if([](const IntStack& s) { return s.ended() != IntStack::End::kUnderWay; }, take);
  }
  // The same for all that `is_gone` says so of.
  template <class IsGone, class Take>
  void take_if(IsGone&& is_gone, Take&& take) {
    std::size_t kept = 0;
    for (const Used& u : used_) {
      const IntStack& stack = stacks_.get()[u.slot];
      if (is_gone(stack)) {
        if (u.reported) take(stack);
        free_.push_back(u.slot);
      } else {
        used_[kept++] = u;
      }
    }
    used_.resize(kept);
  }
  // Those that are left.
  template <class See>
  void for_each(See&& see) const {
    for (const Used& u : used_)
      if (u.reported) see(stacks_.get()[u.slot]);
  }

 private:
  struct Used {
    std::uint32_t slot;
    bool reported;  // chosen since begin()
  };
  bool hit(const Packet& packet) const noexcept {
    return mix64(mix64(key_ ^ packet.stream) ^ packet.offset) <= most_ && most_ != 0;
  }
  bool wanted(const Packet& packet, Priority priority) const noexcept;
  void choose(const std::string& node, PortIndex out, Priority priority, Instant now, Packet& packet) noexcept;

  std::uint64_t key_ = 0;   // the seed's part of the hash
  std::uint64_t most_ = 0;  // hashes up to this; 0: nobody is chosen
  IntSampling sampling_;
  struct Free {
    void operator()(IntStack* stacks) const noexcept;
  };
  std::unique_ptr<IntStack, Free> stacks_;  // an array, of which only what was ever used is touched
  std::vector<std::uint32_t> free_;         // the last one is used next
  std::vector<Used> used_;                  // in the order of departures
  Counter sampled_;
  Counter not_kept_;
};

}  // namespace railyard
