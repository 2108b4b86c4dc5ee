// What one rank of a collective operation does: messages it sends and receives, and what each waits for. A plan makes
// the programs of all ranks (control/collectives/collective_plan.h); a transport carries them out.
//
// A rank's data are octets [0, data_octets), of its own and of results. What comes to be reduced is put behind them
// first, into a part that no two messages share: so whoever sends needs to know nothing of what the receiver has done.
// So is what a rank only passes on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "dataplane/base/time.h"

namespace railyard {

// One message, at one of its ends; or a time of computing. Steps are numbered by their place in RankProgram::steps.
struct CollectiveStep {
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  enum class Kind : std::uint8_t {
    kSend,
    kReduce,  // receive, and add to what is there
    kCopy,    // receive into its place
    kRelay,   // receive, to send it on: nothing of this rank's data
    kCompute  // no message: time passes until this part of the rank's input is there, or until others may go on
  };
  Kind kind = Kind::kSend;
  // Index into RankProgram::connections. kCompute: its stream; steps of one go one after the other, in the order in which
  // they could. kNone: none, for steps without a time.
  std::uint32_t connection = 0;
  std::uint64_t offset = 0;       // in this rank's data; of what is relayed, behind them
  std::uint32_t octets = 0;
  std::uint32_t peer_step = 0;    // the other end of the message
  std::uint64_t place = 0;        // where it is put at the receiver
  std::uint64_t identity = 0;     // what the first octet is called, by both ends
  std::uint32_t first_cut = 0;    // its octets in RankProgram::cuts: [first_cut, end_cut)
  std::uint32_t end_cut = 0;
  std::uint32_t waits_for = 0;    // so many steps of this rank (a send: the receives that its octets come from)
  std::uint32_t first_after = 0;  // steps that wait for this one: RankProgram::after [first_after, end_after)
  std::uint32_t end_after = 0;
  std::uint32_t relays = kNone;   // a send: of this receive's octets, and no others
  Duration time{};  // kCompute; of what receives: a fixed cost, from its message's arrival to whatever depends on it
  // RankProgram::occasions: in which repeats it goes; in others it is done at once. 0: in each.
  std::uint32_t occasion = 0;
  bool idle = false;  // kCompute: nothing is computed meanwhile. It waits for an instant, whatever the rank's speed is

  // Its time is the rank's work, and not waiting.
  constexpr bool computes() const noexcept { return kind == Kind::kCompute && !idle; }
  constexpr bool receives() const noexcept { return kind != Kind::kSend && kind != Kind::kCompute; }
};

// A pair of ranks that exchange messages, each end's view; one per channel. Messages of one direction arrive in order.
struct RankConnection {
  std::uint32_t peer = 0;     // rank
  std::uint32_t at_peer = 0;  // its index there
  std::uint32_t channel = 0;
  std::uint32_t sends = 0;  // messages
  std::uint32_t receives = 0;
  bool scale_up = false;  // both are in one scale-up network, of a host or of several, which is between them
};

// A run of octets and whose input they are.
struct CollectiveExtent {
  static constexpr std::uint32_t kSum = ~std::uint32_t{0};  // the sum over all ranks
  // The sum over the ranks of RankProgram::groups[group].
  static constexpr std::uint32_t sum_over(std::uint32_t group) noexcept { return kSum - 1 - group; }
  constexpr bool is_sum() const noexcept { return rank >= kSum / 2; }
  constexpr std::uint32_t group() const noexcept { return kSum - 1 - rank; }

  std::uint64_t offset = 0;
  std::uint64_t octets = 0;
  std::uint32_t rank = 0;
  std::uint64_t source_offset = 0;  // in that rank's data; of kSum in every rank's
  std::uint32_t occasion = 0;       // a result that is there in these repeats only, as of CollectiveStep
};

struct RankProgram {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::uint64_t data_octets = 0;
  std::uint64_t staging_octets = 0;  // behind the data
  std::uint64_t identity_base = 0;   // name of the data's first octet
  bool reduces = false;              // of the collective: its result is sums
  // It is no rank (`rank` is behind the last one): it has no input, adds what comes or passes it on, and takes this long from a
  // message's arrival until what depends on it may go.
  std::optional<Duration> reducer_latency{};
  // Ranks of which sums are made, other than of all; nullptr: there are none.
  std::shared_ptr<const std::vector<std::vector<std::uint32_t>>> groups{};
  std::vector<CollectiveStep> steps;
  // By occasion: repeats from 0, ascending. nullptr: all steps go in each.
  std::shared_ptr<const std::vector<std::vector<std::uint32_t>>> occasions{};
  std::vector<std::uint32_t> after;
  std::vector<RankConnection> connections;
  std::vector<CollectiveExtent> inputs;   // what the rank has at first
  std::vector<CollectiveExtent> results;  // and in the end
  // Where messages, inputs and results of any rank begin or end; the first is 0, the last data_octets.
  std::shared_ptr<const std::vector<std::uint64_t>> cuts;

  bool goes(std::uint32_t occasion, std::uint32_t repeat) const noexcept {
    return occasion == 0 || std::ranges::binary_search((*occasions)[occasion], repeat);
  }
};

}  // namespace railyard
