// What many seeds have met: counted, shown, and held against the bars below which a swarm proves little.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "control/swarm/outcome.h"

namespace railyard::swarm {

struct Bars {
  std::uint64_t median_hops = 50'000;
  int xoff_percent = 50;  // of the seeds
  int drops_percent = 30;
  int kind_permille = 20;      // every kind of fault, having done something
  int transport_percent = 30;  // packets of RoCE, packets of UET
};

class Coverage {
 public:
  void add(const Outcome& outcome);

  std::uint64_t seeds() const noexcept { return hops_.size(); }
  std::uint64_t median_hops() const;
  // What is below its bar, in words; nothing: all is above.
  std::vector<std::string> missed(const Bars& bars) const;
  // A table for people.
  std::string text() const;
  std::string json() const;

 private:
  std::vector<std::uint64_t> hops_;
  std::map<std::string, std::uint64_t> events_;  // seeds with any: "XOFF", "drops", ...
  std::map<std::string, std::uint64_t> kinds_;
  std::map<std::string, std::uint64_t> features_;
  std::uint64_t all_hops_ = 0;
  std::uint64_t roce_packets_ = 0;
  std::uint64_t uet_packets_ = 0;
};

}  // namespace railyard::swarm
