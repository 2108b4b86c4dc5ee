// Rounds of probes so far, and which pairs are slower than they were.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/spec/spec.h"
#include "dataplane/base/time.h"

namespace railyard::probes {

// One pair in one round.
struct Sample {
  std::optional<double> bps{};           // payload rate of the train; nothing: fewer than two frames came
  std::optional<std::int64_t> p50_ns{};  // median latency of its frames
  std::uint32_t lost = 0;                // frames
  bool measured = true;                  // false: a NIC was attached or replayed a capture
};

struct Round {
  std::uint64_t number = 0;  // from 1
  Instant at{};              // when its first train began
  std::vector<Sample> samples{};
};

// A pair that is slower than its history.
struct Slow {
  std::size_t pair = 0;
  double bps = 0;     // in the last round; 0: nothing came
  double median = 0;  // of the rounds before
};

// Bounded: of more rounds than `kept` the oldest are forgotten.
class History {
 public:
  // Rounds before the last one that a median needs.
  static constexpr std::size_t kLeast = 3;

  struct Pair {
    spec::PortName from, to;
  };
  // `kept` rounds, at least 2; `below`: so much less than its median a pair may have, (0, 1).
  History(std::vector<Pair> pairs, std::size_t kept, double below)
      : pairs_(std::move(pairs)), kept_(kept), below_(below) {}

  // `round` has a sample for each pair. Returns pairs that are slow now, the slowest against their history first.
  const std::vector<Slow>& add(Round round);

  const std::vector<Pair>& pairs() const noexcept { return pairs_; }
  const std::deque<Round>& rounds() const noexcept { return rounds_; }
  std::uint64_t count() const noexcept { return count_; }
  // Of the last round.
  const std::vector<Slow>& slow() const noexcept { return slow_; }
  // Pairs that were slow in any round, by pair: in how many.
  const std::vector<std::uint32_t>& slow_rounds() const noexcept { return slow_rounds_; }
  double below() const noexcept { return below_; }
  // Of the rounds that are kept, but for the last `but`; nothing: fewer than kLeast have a rate.
  std::optional<double> median_bps(std::size_t pair, std::size_t but = 0) const;

  // "h1:1 -> h2:1: 51 Gb/s, 48.0 % below its median of 98 Gb/s"
  std::string text(const Slow& slow) const;

 private:
  std::vector<Pair> pairs_;
  std::size_t kept_;
  double below_;
  std::deque<Round> rounds_;
  std::uint64_t count_ = 0;
  std::vector<Slow> slow_;
  std::vector<std::uint32_t> slow_rounds_;
};

// A round: {"round", "at_seconds", "pairs": [{"from", "to", "bps", "p50_ns", "lost"}], "slow": [...]}; of pairs that
// were not measured nothing. `slow`: of the last round.
nlohmann::json json_of(const History& history, const Round& round);

}  // namespace railyard::probes
