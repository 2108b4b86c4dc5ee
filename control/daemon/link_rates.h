// What links carry, from counters that are read now and then; and how that was in the last minutes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/build/built_lab.h"

namespace railyard::daemon {

// One direction of a link, as the end that sends sees it. Rates are per second of modelled time.
struct EndRates {
  float bps = 0;       // of frames, with FCS
  float use = 0;       // of the link's rate, 0..1: with preamble and gap
  float depth = 0;     // octets in the egress queues of all classes, now
  float marked = 0;    // packets marked CE per second
  float pauses = 0;    // PFC frames with a pause time per second that this end has received
  float drops = 0;     // frames dropped by the sender at this port, or lost on the way, per second
};

// Ends are numbered by links as in the spec: 2 i is end `a` of link i, 2 i + 1 its end `b`.
class LinkRates {
 public:
  explicit LinkRates(const build::BuiltLab& lab);

  std::size_t ends() const noexcept { return port_.size(); }
  PortRef port(std::size_t end) const noexcept { return port_[end]; }
  // The end at a port; nothing if there is no link.
  std::optional<std::size_t> end_at(PortRef port) const;

  // Reads all counters. `modelled_seconds`: of which instant they are, about. Where too little time has passed, rates stay
  // as they were.
  void sample(double modelled_seconds);
  const std::vector<EndRates>& now() const noexcept { return now_; }
  // Ends at which the PFC watchdog has detected a storm since the sample before.
  const std::vector<std::size_t>& storms() const noexcept { return storms_; }

 private:
  struct Counted {
    std::uint64_t octets = 0;
    std::uint64_t packets = 0;
    std::uint64_t marked = 0;
    std::uint64_t pauses = 0;
    std::uint64_t drops = 0;
    std::uint64_t storms = 0;
  };

  const build::BuiltLab& lab_;
  std::vector<PortRef> port_;                  // by end
  std::vector<std::vector<std::size_t>> end_;  // by device and port: the end + 1
  std::vector<Counted> before_;
  std::vector<EndRates> now_;
  std::vector<std::size_t> storms_;
  std::optional<double> at_;
  double usual_ = 0;  // modelled seconds between samples
  int skipped_ = 0;   // samples since before_
};

// The last kKept seconds, in steps: means of rates, the deepest queue. Bounded: with more ends the steps are longer.
class RateHistory {
 public:
  static constexpr double kKept = 600;                    // s
  static constexpr std::size_t kMostOctets = 64u << 20;

  explicit RateHistory(std::size_t ends);

  double step() const noexcept { return step_; }  // s, wall clock
  struct Step {
    double unix_seconds = 0;  // when it began
    double modelled_seconds = 0;
    std::vector<EndRates> ends;
    std::string up;  // by link: '1' or '0' at the end of the step
  };

  void add(double unix_seconds, double modelled_seconds, const std::vector<EndRates>& rates, const std::string& up);
  // Columns: `t`, `modelled`, and what `ends` send (`out`) and what comes to them (`in`: the other ends of their links)
  // in bit/s; of `counted`, the deepest queue (`depth`), and `marked`, `pauses`, `drops` in all.
  nlohmann::json columns(const std::vector<std::size_t>& ends, const std::vector<std::size_t>& counted) const;
  // The step at an instant; the first if it was before, and nullptr if there is none yet.
  const Step* at(double unix_seconds) const;

 private:
  void close_step();

  std::size_t ends_;
  double step_;
  std::size_t most_;         // steps
  std::vector<Step> ring_;
  std::size_t first_ = 0;    // the oldest, once the ring is full
  std::vector<EndRates> sum_;
  std::size_t summed_ = 0;
  double began_ = 0;
  double modelled_ = 0;
  std::string up_;
};

}  // namespace railyard::daemon
