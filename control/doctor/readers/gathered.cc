#include "control/doctor/readers/gathered.h"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "control/base/read_file.h"
#include "control/spec/input_error.h"

namespace railyard::doctor {
namespace {

using Json = nlohmann::ordered_json;

std::string stem_of(const std::string& file) { return std::filesystem::path(file).stem().string(); }

void read_counter_file(const std::string& file, Gathered& to) {
  const auto text = read_whole_file(file);
  if (!text) throw InputError(fmt::format("{}: cannot be read: {}", file, text.error()));
  const std::uint64_t before = to.taken();
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, false);
  if (json.is_object() && json.contains("data") && json["data"].is_object())
    read_prometheus(json, file, to);
  else if (json.is_object())
    read_sonic(json, stem_of(file), file, to);
  else if (text->find("PFC0") != std::string::npos)
    read_sonic_pfc(*text, stem_of(file), file, to);
  else
    read_ethtool(*text, stem_of(file), file, to);
  if (to.taken() == before)
    throw InputError(fmt::format("{}: no counter in it is known; expected an answer of Prometheus' query API, `ethtool -S`, "
                                 "SONiC's COUNTERS_DB, `show interfaces counters -j` or `show pfc counters`",
                                 file));
}

}  // namespace

Gathered::Port& Gathered::port(const std::string& node, const std::string& name, bool is_switch) {
  Port& p = ports_[{node, name}];
  p.is_switch |= is_switch;
  return p;
}

std::unique_ptr<Case> Gathered::make_case(const std::string& name) const {
  Json report{{"ports", Json::array()}, {"nics", Json::array()}};
  for (const auto& [where, p] : ports_) {
    Json port = p.values;
    port["node"] = where.first;
    port["port"] = 0;
    port["label"] = where.second;
    port["is_switch"] = p.is_switch;
    port["drops"] = p.drops;
    port["classes"] = Json::array();
    for (int k = 0; k < 8; ++k) {
      const auto values = p.classes.find(k);
      const auto drops = p.class_drops.find(k);
      if (values == p.classes.end() && drops == p.class_drops.end()) continue;
      Json c = values == p.classes.end() ? Json::object() : values->second;
      c["class"] = k;
      c["drops"] = drops == p.class_drops.end() ? Json::object() : Json(drops->second);
      port["classes"].push_back(std::move(c));
    }
    report["ports"].push_back(std::move(port));
  }
  for (const auto& [node, counters] : nics_) report["nics"].push_back({{"node", node}, {"counters", counters}});
  report["conversations"] = conversations_;
  report["since"] = since_;
  return std::make_unique<Case>(std::move(report), inputs_, name);
}

std::unique_ptr<Case> read_counters(const std::vector<std::string>& files) {
  Gathered all;
  for (const std::string& file : files) read_counter_file(file, all);
  return all.make_case(files.size() == 1 ? files[0] : fmt::format("{} files", files.size()));
}

}  // namespace railyard::doctor
