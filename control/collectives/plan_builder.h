// Puts the programs of all ranks together, message by message, in an order in which they could be carried out one after
// the other; what each waits for follows from the octets that it sends.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "transports/base/rank_program.h"

namespace railyard::collectives {

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
  // `chunk`: the most octets of a message, a multiple of `element`. Behind the ranks there are reducers, each with its
  // latency: no ranks of the collective, since they have no input and no result.
  PlanBuilder(std::uint32_t ranks, std::uint64_t data_octets, std::uint32_t chunk, bool reduces,
              const std::vector<Duration>& reducers = {});

  // By rank: its scale-up network, over which ranks of one reach each other (whoever has none is in one of its own), and behind
  // the ranks those of reducers; the rail of its NIC in its host; and which of the network's hosts that is (empty: each has only
  // one). `relays`: what is for another network and another rail goes to the rank at that rail of its own host first, if there is
  // one, and from there, as NCCL does it (PXN).
  void set_places(std::vector<std::uint32_t> host, std::vector<std::uint32_t> rail, std::vector<std::uint32_t> tray,
                  bool relays);

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
  // One message, which also waits for all that was written to `waits_for` of its sender's data.
  void signal(std::uint32_t from, std::uint32_t to, std::uint32_t channel, Range range, std::uint64_t at,
              Range waits_for) {
    message(from, to, channel, range, at, CollectiveStep::Kind::kCopy, waits_for);
  }

  // What each message costs its receiver besides, over the network and within a scale-up network; and each of its octets.
  void set_step_costs(Duration network, Duration scale_up, double ps_per_octet) noexcept {
    network_cost_ = network;
    scale_up_cost_ = scale_up;
    ps_per_octet_ = ps_per_octet;
  }

  // Of messages from here on; as in the constructor.
  void set_chunk(std::uint32_t chunk) noexcept { chunk_ = chunk; }

  // Of the transfers from here on, until it is called again, at most `messages` between two ranks are on their way: each
  // waits until the one that many before it is acknowledged. 0: as many as there are data for.
  void begin_stream(std::size_t messages) noexcept {
    most_on_their_way_ = messages;
    on_their_way_.clear();
    sends_before_ = std::exchange(sends_, {});
    receives_.clear();
  }
  // What each rank sent in the stream before this one comes back to it in this one, by as many messages: each of those
  // waits until the one that many `messages` before it is back. Nobody runs further ahead of the slowest.
  void wait_for_return(std::size_t messages);

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
               CollectiveStep::Kind kind, Range waits_for);
  // A message from one rank to another as it is; `s` is what is known of its send. Returns both ends' steps.
  std::pair<std::uint32_t, std::uint32_t> hop(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                                              CollectiveStep s, std::uint64_t at, CollectiveStep::Kind kind);
  bool in_one_host(std::uint32_t a, std::uint32_t b) const noexcept { return !host_.empty() && host_[a] == host_[b]; }
  std::optional<std::uint32_t> relay_of(std::uint32_t from, std::uint32_t to) const;
  std::uint32_t connection(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel);
  static void cut(Writers& writers, std::uint64_t at);
  static void note(Writers& writers, Range range, std::uint32_t step, bool adds);
  void set_cuts();

  Duration network_cost_{}, scale_up_cost_{};
  double ps_per_octet_ = 0;
  std::uint32_t chunk_;
  std::vector<std::uint32_t> host_;  // by rank; empty: no scale-up networks
  std::vector<std::uint32_t> rail_;
  std::vector<std::uint32_t> tray_;
  using At = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // network, host of it, rail
  At at(std::uint32_t rank, std::uint32_t rail) const { return {host_[rank], tray_.empty() ? 0 : tray_[rank], rail}; }
  std::map<At, std::uint32_t> relays_;
  std::uint64_t messages_ = 0;
  std::size_t most_on_their_way_ = 0;
  // Of the stream: the sends of a rank over a connection, by both.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> on_their_way_;
  // By rank: what it sends and receives in the stream, and what it sent in the one before.
  std::map<std::uint32_t, std::vector<std::uint32_t>> sends_, receives_, sends_before_;
  std::vector<RankProgram> programs_;
  std::vector<Writers> writers_;                                // by rank
  std::vector<std::vector<std::vector<std::uint32_t>>> after_;  // by rank and step
  std::map<std::uint32_t, std::uint32_t> computed_;             // by rank: its last step of computing
  std::vector<std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t>> connections_;
};

}  // namespace railyard::collectives
