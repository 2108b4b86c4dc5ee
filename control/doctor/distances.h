// How long light takes between NICs: the cables of the shortest ways, and nothing else.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "control/doctor/case.h"

namespace railyard::doctor {

// Of the ways with the fewest hops, ns: the shortest, and the longest.
struct Way {
  double least = 0, most = 0;
};

class Distances {
 public:
  explicit Distances(const Case& c);

  // From NIC to NIC, "h3" (its first) or "h3:2". Zeros: cables are short everywhere (below 100 m), or not known.
  Way between(const std::string& source, const std::string& sink);
  // The widest range between the shortest and the longest way of two NICs that were asked for, ns.
  double widest() const noexcept { return widest_; }

 private:
  struct Edge {
    std::size_t to = 0;
    double ns = 0;
  };
  const std::vector<Way>& from(std::size_t node);

  const Case& case_;
  bool is_far_ = false;
  double widest_ = 0;
  std::map<std::string, std::size_t> switches_;
  std::vector<std::vector<Edge>> edges_;            // between switches
  std::map<std::size_t, std::vector<Way>> known_;  // by the switch where they begin
};

}  // namespace railyard::doctor
