// A soak in intervals: what each measured, so that it can be interrupted and resumed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace railyard::acceptance {

// One interval.
struct SoakSample {
  double seconds = 0;         // into the soak when it ended, interruptions left out
  std::uint64_t packets = 0;  // sent by probes in it; the others too are of this interval
  std::uint64_t lost = 0;
  std::uint64_t corrupted = 0;
  std::uint64_t drops = 0;              // of all frames, at any port or link
  std::vector<std::string> failures{};  // verdicts that failed, unbalanced accounting
  // Of a live lab.
  std::int64_t pid = 0;        // of the daemon
  double rss_bytes = 0;        // its memory at the end
  double lateness_p99_ns = 0;  // of the engine since the lab's start
  double slip_ns = 0;          // of wall time, in this interval
};

struct Soak {
  std::string lab{};                            // its digest: of another lab a soak cannot go on
  std::string transport{};                      // "RoCEv2", "UET"
  bool live = false;                            // seconds of wall time, else of simulated time
  double interval_seconds = 0;                  // > 0
  std::map<std::size_t, SoakSample> samples{};  // by number of the interval, from 0; gaps are still to be measured
};

// A straight line through memory over time, by least squares: how fast the daemon grows.
struct Growth {
  double bytes_per_hour = 0;
  double margin = 0;  // half the 95 % confidence interval of that
  std::size_t points = 0;

  // Whether it grows at all: zero is below the interval.
  bool is_certain() const noexcept { return bytes_per_hour - margin > 0; }
};
// Of the last daemon's samples. Nothing: there are fewer than 5.
std::optional<Growth> growth(const Soak& soak);

// Sums over all intervals.
struct SoakSums {
  std::size_t intervals = 0;
  double seconds = 0;
  std::uint64_t packets = 0, lost = 0, corrupted = 0, drops = 0;
  double lateness_p99_ns = 0;  // the largest
  double slip_ns = 0;
  std::vector<std::string> failures{};  // each once
};
SoakSums sums(const Soak& soak);

// A checkpoint, and what it says. from_checkpoint() throws std::invalid_argument: it is none.
nlohmann::ordered_json checkpoint(const Soak& soak);
Soak from_checkpoint(const std::string& text);
// Why a soak cannot go on from `saved`, one clause; empty: it can. Both without samples are compared.
std::string why_not_resumed(const Soak& saved, const Soak& asked);

}  // namespace railyard::acceptance
