// Puts the programs of all ranks together, message by message, in an order in which they could be carried out one after
// the other; what each waits for follows from the octets that it sends.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "transports/base/rank_program.h"

namespace railyard::workload {

// A run of octets of a rank's data.
struct Range {
  std::uint64_t offset = 0;
  std::uint64_t octets = 0;

  std::uint64_t end() const noexcept { return offset + octets; }
  bool operator==(const Range&) const = default;
};

// `range` in `parts`, in whole elements; the first ones have one more if it does not come out even.
std::vector<Range> split(Range range, std::uint64_t parts, std::uint32_t element);

class PlanBuilder {
 public:
  // `chunk`: the most octets of a message, a multiple of `element`.
  PlanBuilder(std::uint32_t ranks, std::uint64_t data_octets, std::uint32_t chunk, bool reduces);

  void set_identity_base(std::uint32_t rank, std::uint64_t base) { programs_[rank].identity_base = base; }
  void add_input(std::uint32_t rank, Range range);
  void add_result(std::uint32_t rank, const CollectiveExtent& extent) { programs_[rank].results.push_back(extent); }

  // `rank` computes so long, after what it was to compute before; only then is its own part of `range` there.
  void compute(std::uint32_t rank, Range range, Duration time);

  // `range` of `from` goes over `channel` to `to`, where it begins at `at`, in messages of at most a chunk; none if it
  // is empty.
  void reduce(std::uint32_t from, std::uint32_t to, std::uint32_t channel, Range range) {
    transfer(from, to, channel, range, range.offset, CollectiveStep::Kind::kReduce);
  }
  void copy(std::uint32_t from, std::uint32_t to, std::uint32_t channel, Range range, std::uint64_t at) {
    transfer(from, to, channel, range, at, CollectiveStep::Kind::kCopy);
  }

  // Messages so far.
  std::uint64_t messages() const noexcept { return messages_; }

  // Once, at the end.
  std::vector<RankProgram> finish();

 private:
  // Who wrote what last: the receives that octets [start, end) of a rank come from, by start.
  struct Written {
    std::uint64_t end;
    std::vector<std::uint32_t> steps;
  };
  using Writers = std::map<std::uint64_t, Written>;

  void transfer(std::uint32_t from, std::uint32_t to, std::uint32_t channel, Range range, std::uint64_t at,
                CollectiveStep::Kind kind);
  void message(std::uint32_t from, std::uint32_t to, std::uint32_t channel, Range range, std::uint64_t at,
               CollectiveStep::Kind kind);
  std::uint32_t connection(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel);
  static void cut(Writers& writers, std::uint64_t at);
  static void note(Writers& writers, Range range, std::uint32_t step, bool adds);
  void set_cuts();

  std::uint32_t chunk_;
  std::uint64_t messages_ = 0;
  std::vector<RankProgram> programs_;
  std::vector<Writers> writers_;                                // by rank
  std::vector<std::vector<std::vector<std::uint32_t>>> after_;  // by rank and step
  std::map<std::uint32_t, std::uint32_t> computed_;             // by rank: its last step of computing
  std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>> connections_;
};

}  // namespace railyard::workload
