// How much a run is below what the fabric could give the same workload.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/spec/spec.h"

namespace railyard::hunt {

enum class Hurt { kGoodput, kP99, kJct, kPause };

struct HurtWord {
  const char* word;
  Hurt hurt;
  const char* help;
};
const std::vector<HurtWord>& hurt_words();

// One flow of a run, with what it could have been.
struct FlowDamage {
  std::string name;
  double octets = 0;
  double start_ns = 0;
  double fct_ns = 0;    // of a flow that did not complete, until the run ended
  double ideal_ns = 0;  // see ideal_times()
  bool complete = true;

  double slowdown() const noexcept { return fct_ns / ideal_ns; }
};

// FCT of each flow of a report if all flows shared links perfectly: fluid, with max-min fair rates at every instant
// (control/estimate/max_min.h) over all shortest paths, plus latency; never less than its FCT on an empty fabric
// (report.json: ideal_ns), and no faster than the messages that it may have outstanding let it be. Framing is counted; ACKs
// are not. `faults` of the lab slow down the ideal as well, for the whole run: rates are reduced, links that are down or flap
// are not there, slow hosts have slow links. Flows that end at a host that a PFC storm, or a dead link, cuts off have no
// ideal and are left out: their own damage says nothing.
// `lab` is that of the run.
std::vector<FlowDamage> flow_damages(const spec::Lab& lab, const nlohmann::ordered_json& report);

struct Damage {
  double value = 0;  // 0: as good as can be; 1: nothing gets through
  // goodput: 1 - mean over flows of ideal / FCT, weighted by bytes. p99: 1 - 1 / the 99th percentile of FCT / ideal.
  // jct: 1 - ideal / completion of the last flow. pause: the largest share of time for which PFC paused a class of a
  // port.
  double measured_ns = 0, ideal_ns = 0;  // of jct and of the worst flow otherwise
  std::string worst_flow;
  // Counters that rise before damage does, as in Collie (section 4.2 of its paper): 0..1 each.
  std::map<std::string, double> signs;

  // What the search climbs: damage, and a little for signs.
  double energy() const;
};
Damage damage_of(Hurt hurt, const spec::Lab& lab, const nlohmann::ordered_json& report);

}  // namespace railyard::hunt
