// Where congestion control does not get the in-band telemetry that it needs.
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "control/lint/rules/rules.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::lint {
namespace {

std::string key_of(const Facts& facts, const Stream& s) {
  return fmt::format("hosts.{}.roce.congestion", facts.lab().find(s.from.node)->profile);
}

// Of RC: others have no acknowledgements that could return it.
bool reads_telemetry(const Facts& facts, const Stream& s) {
  return s.like.transport == spec::TrafficSpec::Transport::kRoce && !s.like.is_rping() && !s.like.is_uc() &&
         facts.lab().find(s.from.node)->kind == spec::NodeSpec::Kind::kHost && !facts.lab().find(s.from.node)->agent &&
         facts.host(s.from.node).roce.reads_telemetry();
}

void find_many_paths(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.kinds_of_streams()) {
    if (!reads_telemetry(facts, s)) continue;
    std::map<std::size_t, std::set<int>> ways;  // ports by which the stream leaves a switch
    const std::vector<Hop> hops = facts.hops(s);
    for (const Hop& hop : hops) ways[hop.node].insert(hop.out_port);
    for (const Hop& hop : hops) {
      const spec::NodeSpec& node = facts.lab().nodes[hop.node];
      const spec::TrafficClass& c = facts.qos(node).classes[static_cast<std::size_t>(hop.in_class)];
      if (unit_of(c.path) != PathUnit::kPacket || ways[hop.node].size() < 2) continue;
      findings.add(Facts::class_path(facts.qos_name(node), hop.in_class) + ".path",
                   fmt::format("Packets of {} take {} paths. HPCC compares the telemetry of one path and ignores an "
                               "acknowledgement whose packet took another path than the one before.",
                               s.name, ways[hop.node].size()),
                   fmt::format("Set path: ecmp, or another {}.", key_of(facts, s)));
      break;
    }
  }
}

void find_not_returned(const Facts& facts, Findings& findings) {
  for (const Stream& s : facts.kinds_of_streams()) {
    if (!reads_telemetry(facts, s)) continue;
    std::string why;
    if (facts.lab().find(s.to.node)->agent) why = fmt::format("{} is an agent's host", s.to.node);
    for (const Hop& hop : facts.hops(s))
      for (const routing::Graph::Edge& e : facts.graph().edges(hop.node))
        if (e.port.value + 1 == hop.out_port && facts.graph().is_trunk(e.neighbour))
          why = fmt::format("packets cross trunk {}", facts.lab().nodes[e.neighbour].name);
    if (why.empty()) continue;
    findings.add(key_of(facts, s),
                 fmt::format("HPCC does not control {}: {}, which returns no telemetry. Its window stays at one "
                             "bandwidth-delay product.",
                             s.name, why),
                 "Set congestion: dcqcn or swift.");
  }
}

}  // namespace

const Rule kTelemetryManyPaths{"telemetry-many-paths", Severity::kWarning,
                               "HPCC runs in a class whose packets switches spray over several paths.",
                               find_many_paths};
const Rule kTelemetryNotReturned{"telemetry-not-returned", Severity::kWarning,
                                 "HPCC gets no telemetry from the receiver, so nothing slows the sender down.",
                                 find_not_returned};

}  // namespace railyard::lint
