// Probes between all pairs of NICs, over a run: `probe` of the file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/probes/rounds.h"

namespace railyard::report {

struct ProbeReport {
  std::int64_t every_ns = 0;
  std::uint64_t rounds = 0;   // complete
  std::uint64_t skipped = 0;  // not sent, or given up
  double below = 0;           // so much below its median makes a pair slow
  struct Pair {
    std::string source, destination;     // "h1:1"
    std::optional<double> median_bps{};  // of the rounds that are kept
    std::optional<double> last_bps{};    // of the last round
    std::uint64_t slow_rounds = 0;
    bool is_slow = false;  // in the last round
  };
  std::vector<Pair> pairs{};

  std::uint64_t slow() const noexcept;  // pairs, in the last round
};

ProbeReport probe_report(const probes::Rounds& rounds);
nlohmann::ordered_json probe_json(const ProbeReport& p);
// "Probes: 12 pairs, 9 rounds, ..." and pairs that were slow, the most often first.
std::string probe_text(const ProbeReport& p);

}  // namespace railyard::report
