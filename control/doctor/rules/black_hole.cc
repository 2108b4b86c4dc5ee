// A switch that has no way for packets.
#include <fmt/format.h>

#include "control/doctor/rule.h"

namespace railyard::doctor {
namespace {

std::vector<Diagnosis> find_black_hole(const Case& c) {
  std::vector<Diagnosis> out;
  for (const PortCase& p : c.ports()) {
    const auto n = p.dropped("no_route") + p.dropped("ttl_expired");
    if (n == 0) continue;
    const std::string line = fmt::format("{} dropped {} packets: no route, or TTL expired", p.name(), n);
    if (!out.empty() && out.back().element == p.node)
      out.back().evidence.push_back(line);
    else
      out.push_back({p.node, 0.8, {line}});
  }
  return out;
}

}  // namespace

const Rule rules::kBlackHole{
    "black-hole", "A switch has no route for packets that come to it.",
    "`railyard routes` and `railyard path` show its tables: a stale or missing route, a network that is not announced.",
    "A link next to it that is down: then the routes are right, and late.", find_black_hole, {Input::kPorts}};

}  // namespace railyard::doctor
