// Classes of ports that something happened to, the worst first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/report/report.h"

namespace railyard::report {

// One class of one port that something happened to.
struct PortPlace {
  const PortReport* port;
  std::size_t priority;
  const ClassCounters* counters;
  std::string name() const { return fmt::format("{}:{}", port->node, port->port); }
};

std::vector<PortPlace> port_places(const Report& r);

// Those that `keep` is true of, that with the most of `amount` first.
template <class Keep, class Amount>
std::vector<PortPlace> worst_places(const Report& r, Keep keep, Amount amount) {
  std::vector<PortPlace> out = port_places(r);
  std::erase_if(out, [&](const PortPlace& p) { return !keep(p); });
  std::stable_sort(out.begin(), out.end(), [&](const PortPlace& a, const PortPlace& b) { return amount(a) > amount(b); });
  return out;
}

// Whether a queue held more than back-to-back frames, or marked, dropped or paused any.
bool is_of_interest(const ClassCounters& c);
// The switches' queues that were ever in use, the deepest first.
std::vector<PortPlace> used_queues(const Report& r);

}  // namespace railyard::report
