#include "control/front/merge_findings.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace railyard::front {

using nlohmann::json;

namespace {

json list_of(const json& answer, const char* key) {
  if (!answer.is_object()) return json::array();
  json list = answer.value(key, json());
  return list.is_array() ? list : json::array();
}
double number_of(const json& answer, const char* key) {
  const json said = answer.is_object() ? answer.value(key, json()) : json();
  return said.is_number() ? said.get<double>() : 0;
}
std::string path_of(const json& item) {
  const json path = item.is_object() ? item.value("path", json()) : json();
  return path.is_string() ? path.get<std::string>() : std::string();
}

void append(const LinkMap& map, const Answers& answers, const char* key, json& out) {
  out[key] = json::array();
  for (const auto& [site, a] : answers)
    for (json& item : list_of(a, key).get_ref<json::array_t&>()) out[key].push_back(map.with_far_ends(site, std::move(item)));
}

}  // namespace

json merged_pauses(const LinkMap& map, const Answers& answers) {
  json out{{"at_ns", 0}, {"paused", 0}, {"watched", false}};
  append(map, answers, "now", out);
  for (const auto& [site, a] : answers) {
    for (const char* key : {"at_ns", "paused"})
      if (const json said = a.is_object() ? a.value(key, json()) : json(); said.is_number())
        out[key] = std::string_view(key) == "at_ns" ? std::max(out[key], said) : json(out[key].get<double>() + said.get<double>());
    if (a.is_object() && a.value("watched", json()) == true) out["watched"] = true;
  }
  out["paused"] = static_cast<std::uint64_t>(out["paused"].get<double>());
  if (out["watched"] == true)
    for (const char* key : {"trees", "deadlocks"}) append(map, answers, key, out);
  return out;
}

json merged_pauses_at(const LinkMap& map, const Answers& answers, double at) {
  json out{{"unix_seconds", at}};
  append(map, answers, "trees", out);
  return out;
}

json merged_diagnosis(const std::string& name, const LinkMap& map, const Answers& answers) {
  json found = json::object();
  append(map, answers, "findings", found);
  auto& findings = found["findings"].get_ref<json::array_t&>();
  std::ranges::stable_sort(findings, std::greater{}, [](const json& f) { return number_of(f, "confidence"); });
  std::map<std::string, std::pair<json, std::size_t>> blind;  // by rule: how many sites have not looked
  for (const auto& [site, a] : answers)
    for (const json& rule : list_of(a, "not_looked_at")) {
      auto& [said, sites] = blind[rule.dump()];
      said = rule;
      ++sites;
    }
  json not_looked_at = json::array();
  for (const auto& [text, rule] : blind)
    if (rule.second == answers.size()) not_looked_at.push_back(rule.first);
  return {{"schema", "railyard-diagnosis/1"},
          {"name", name},
          {"findings", std::move(findings)},
          {"not_looked_at", std::move(not_looked_at)}};
}

json merged_settings(const Answers& answers) {
  json out = json::array();
  std::set<std::string> known;
  for (const auto& [site, a] : answers)
    for (const json& setting : list_of(a, "settings"))
      if (known.insert(path_of(setting)).second) out.push_back(setting);
  return {{"settings", std::move(out)}};
}

json merged_changes(const Answers& answers) {
  json out{{"changes", json::array()}, {"effective_seconds", 0.0}};
  std::set<std::string> known;
  for (const auto& [site, a] : answers) {
    for (const json& change : list_of(a, "changes"))
      if (known.insert(path_of(change)).second) out["changes"].push_back(change);
    out["effective_seconds"] = std::max(out["effective_seconds"].get<double>(), number_of(a, "effective_seconds"));
  }
  return out;
}

}  // namespace railyard::front
