// Which queues paused which in the last minutes of a live lab.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include <nlohmann/json.hpp>

namespace railyard::daemon {

// Pause trees of the last kKept seconds, as they were seen. Bounded: of more octets the oldest are forgotten.
class PauseHistory {
 public:
  static constexpr double kKept = 600;                    // s
  static constexpr std::size_t kMostOctets = 8u << 20;    // of trees as JSON
  static constexpr double kHolds = 2.5;                   // s that a look speaks for: looks come every second

  // `trees`: an array, as control/report/pause_json.h has it; looks come in order of time.
  void add(double unix_seconds, const nlohmann::json& trees);
  // The last look before an instant, if that was not longer ago than kHolds: "unix_seconds", "trees". Otherwise no trees,
  // at the instant itself.
  nlohmann::json at(double unix_seconds) const;
  std::size_t octets() const noexcept { return octets_; }

 private:
  struct Seen {
    double unix_seconds;
    std::string trees;
  };
  std::deque<Seen> seen_;
  std::size_t octets_ = 0;
};

}  // namespace railyard::daemon
