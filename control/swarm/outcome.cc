#include "control/swarm/outcome.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "control/base/json_text.h"

namespace railyard::swarm {

bool Outcome::failed(const std::string& rule) const noexcept {
  return std::ranges::any_of(violations, [&](const Violation& v) { return v.rule == rule; });
}

std::string Outcome::json() const {
  nlohmann::ordered_json j{{"seed", seed},
                           {"hops", hops},
                           {"xoffs", xoffs},
                           {"drops", drops},
                           {"lost", lost},
                           {"marks", marks},
                           {"trims", trims},
                           {"roce_packets", roce_packets},
                           {"uet_packets", uet_packets},
                           {"retransmissions", retransmissions},
                           {"failures", failures},
                           {"digest", digest},
                           {"deadlocked", deadlocked},
                           {"kinds", kinds},
                           {"features", features}};
  j["violations"] = nlohmann::json::array();
  for (const Violation& v : violations) j["violations"].push_back({{"rule", v.rule}, {"what", v.what}});
  if (!unverified.empty()) j["unverified"] = unverified;
  return json_text(j);
}

Outcome Outcome::from_json(const std::string& line) {
  const nlohmann::json j = nlohmann::json::parse(line);
  Outcome o;
  j.at("seed").get_to(o.seed);
  j.at("hops").get_to(o.hops);
  j.at("xoffs").get_to(o.xoffs);
  j.at("drops").get_to(o.drops);
  j.at("lost").get_to(o.lost);
  j.at("marks").get_to(o.marks);
  j.at("trims").get_to(o.trims);
  j.at("roce_packets").get_to(o.roce_packets);
  j.at("uet_packets").get_to(o.uet_packets);
  j.at("retransmissions").get_to(o.retransmissions);
  j.at("failures").get_to(o.failures);
  j.at("digest").get_to(o.digest);
  j.at("deadlocked").get_to(o.deadlocked);
  j.at("kinds").get_to(o.kinds);
  j.at("features").get_to(o.features);
  for (const auto& v : j.at("violations")) o.violations.push_back({v.at("rule"), v.at("what")});
  o.unverified = j.value("unverified", "");
  return o;
}

}  // namespace railyard::swarm
