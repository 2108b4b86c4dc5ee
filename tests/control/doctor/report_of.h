// Reports by hand: a leaf with two hosts, of which a test changes the counters.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/doctor/rule.h"

namespace railyard::doctor::test {

using Json = nlohmann::ordered_json;

inline Json class_of(int number) {
  return {{"class", number},    {"rx", {{"packets", 0}}}, {"tx", {{"packets", 0}}}, {"ecn_marked", 0},
          {"xoff_sent", 0},     {"xoff_received", 0},     {"pfc_received", 0},      {"pfc_not_enabled", 0},
          {"pause_share", 0.0}, {"paused_ns", 0},         {"max_depth_bytes", 0},   {"drops", Json::object()}};
}

inline Json port_of(const char* node, int port, const char* peer, bool is_switch) {
  Json p{{"node", node},
         {"port", port},
         {"peer", peer},
         {"utilisation", 0.5},
         {"drops", Json::object()},
         {"classes", Json::array()}};
  for (int k = 0; k < 8; ++k) {
    p["classes"].push_back(class_of(k));
    if (is_switch) p["classes"].back()["max_ingress_cells"] = 0;
  }
  return p;
}

// leaf1:1-h1:1 and leaf1:2-h2:1; 10,000 packets of class 3 from h1 to h2.
inline Json healthy() {
  Json r{{"run", {{"name", "pair"}}},    {"flows", Json::array()},     {"collectives", Json::array()},
         {"path_groups", Json::array()}, {"deadlocks", Json::array()}, {"engine", {{"lateness_ns", nullptr}}},
         {"ports", Json::array()}};
  r["ports"] = Json::array({port_of("leaf1", 1, "h1:1", true), port_of("leaf1", 2, "h2:1", true),
                            port_of("h1", 1, "leaf1:1", false), port_of("h2", 1, "leaf1:2", false)});
  r["ports"][2]["classes"][3]["tx"]["packets"] = 10'000;
  r["ports"][0]["classes"][3]["rx"]["packets"] = 10'000;
  r["ports"][1]["classes"][3]["tx"]["packets"] = 10'000;
  r["ports"][3]["classes"][3]["rx"]["packets"] = 10'000;
  return r;
}

// Class 3 of a port: 0 leaf1:1, 1 leaf1:2, 2 h1:1, 3 h2:1.
inline Json& class3(Json& report, std::size_t port) { return report["ports"][port]["classes"][3]; }

// "rule at element", the surest first.
inline std::vector<std::string> named(const Json& report) {
  const Case c(report, "a.json");
  std::vector<std::string> out;
  for (const auto& [rule, d] : diagnose(c)) out.push_back(std::string(rule->id) + " at " + d.element);
  return out;
}

}  // namespace railyard::doctor::test
