// What an algorithm plans with: the shape of the collective, the channel it is at, and transfers between ranks.
#pragma once

#include <cstdint>
#include <vector>

#include "control/collectives/plan_builder.h"
#include "dataplane/base/time.h"

namespace railyard::collectives {

struct CollectiveShape;

using Ranks = std::vector<std::uint32_t>;
using Ranges = std::vector<Range>;

class Plan {
 public:
  Plan(const CollectiveShape& shape, std::uint32_t ranks);

  const CollectiveShape& shape() const noexcept { return shape_; }
  std::uint32_t ranks() const noexcept { return ranks_; }
  std::uint32_t channel() const noexcept { return channel_; }
  // What takes part in transfers as a rank does, and has no data of its own: reducer `number` of shape().reduction.
  std::uint32_t reducer(std::uint32_t number) const noexcept { return ranks_ + number; }

  // Over the channel, from one rank to another: `range` is added to the receiver's, or put in its place there (`at`).
  // In an order in which transfers could go one after the other.
  void reduce(std::uint32_t from, std::uint32_t to, Range range) { build_.reduce(from, to, channel_, range); }
  void copy(std::uint32_t from, std::uint32_t to, Range range) { copy(from, to, range, range.offset); }
  void copy(std::uint32_t from, std::uint32_t to, Range range, std::uint64_t at) {
    build_.copy(from, to, channel_, range, at);
  }

  // All of the data; and the block of each rank, over all channels.
  Range whole() const;
  Ranges blocks() const { return split(whole(), ranks_); }
  Range block_of(std::uint32_t rank) const noexcept;
  // The channel's part of a range.
  Range of_channel(Range range) const;

  // All-to-all: what goes from a rank to another, in the sender's data; and where it is put in the receiver's.
  Range outgoing(std::uint32_t from, std::uint32_t to) const;
  std::uint64_t incoming(std::uint32_t from, std::uint32_t to) const;
  // Where what a rank gets begins, behind what it sends.
  std::uint64_t second_buffer() const noexcept;

  // Barrier: `from` tells `to` that it is there, once it has heard all that is noted in its slots before `slot`; this is
  // noted in the slot `slot` of `to`. Slot 0 is a rank's own arrival.
  void arrive(std::uint32_t from, std::uint32_t to, std::uint32_t slot);
  // Rounds of a barrier, each with a slot: ceil(log2(ranks)).
  std::uint32_t rounds() const noexcept;

  // In whole elements.
  Ranges split(Range range, std::uint64_t parts) const;

  // Messages from here on have at most so many octets, in whole elements, and never more than shape().chunk.
  void limit_messages(std::uint64_t octets);

  // PlanBuilder::begin_stream and wait_for_return.
  void begin_stream(std::size_t messages) { build_.begin_stream(messages); }
  void wait_for_return(std::size_t messages) { build_.wait_for_return(messages); }

  // The programs, once.
  std::vector<RankProgram> make();

 private:
  Ranges blocks_of_channel() const;
  void inputs_and_results();
  void all_reduce();
  void start_channel(std::uint32_t channel);
  Duration of_rank(std::uint32_t rank, Duration time) const;

  const CollectiveShape& shape_;
  std::uint32_t ranks_;
  std::uint32_t channel_ = 0;
  // All-to-all of unequal parts, by sender and receiver: where they begin.
  std::vector<std::uint64_t> out_at_, in_at_;
  PlanBuilder build_;
};

}  // namespace railyard::collectives
