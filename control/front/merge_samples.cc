#include "control/front/merge_samples.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace railyard::front {

using nlohmann::json;

namespace {

constexpr std::array kColumns{"bps", "use", "depth", "marked", "pauses", "drops"};
constexpr std::array kEngine{"busy", "lateness_p99_ns", "slip_seconds"};

bool is_numbers(const json& of, const char* key, std::size_t least) {
  const auto found = of.find(key);
  return found != of.end() && found->is_array() && found->size() >= least &&
         std::ranges::all_of(*found, [](const json& v) { return v.is_number(); });
}

// Of at least so many links. A site has its reducers' links behind them.
bool is_sample(const json& sample, std::size_t links) {
  if (!sample.is_object() || !sample.contains("up") || !sample["up"].is_string()) return false;
  if (sample["up"].get_ref<const std::string&>().size() < links) return false;
  return std::ranges::all_of(kColumns, [&](const char* c) { return is_numbers(sample, c, 2 * links); });
}

}  // namespace

json merged_sample(const LinkMap& map, const Answers& samples) {
  const std::size_t links = map.lab().links.size();
  json out{{"held", false}};
  for (const char* key : kEngine) out[key] = 0;
  std::array<std::vector<json>, kColumns.size()> columns;
  for (auto& column : columns) column.assign(2 * links, 0);
  std::vector<int> ends_up(links, 0);
  for (const auto& [site, sample] : samples) {
    const std::vector<LinkMap::Part>& parts = map.at(site);
    if (!is_sample(sample, parts.size())) continue;
    const auto& up = sample["up"].get_ref<const std::string&>();
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const LinkMap::Part& part = parts[i];
      if (up[i] == '1') ends_up[part.link] += (part.has_a ? 1 : 0) + (part.has_b ? 1 : 0);
      for (std::size_t c = 0; c < kColumns.size(); ++c) {
        const json& said = sample[kColumns[c]];
        if (part.has_a) columns[c][2 * part.link] = said[2 * i];
        if (part.has_b) columns[c][2 * part.link + 1] = said[2 * i + 1];
      }
    }
    out["held"] = out["held"].get<bool>() || sample.value("held", json()) == true;
    for (const char* key : kEngine)
      if (const json said = sample.value(key, json()); said.is_number() && said > out[key]) out[key] = said;
  }
  // When all ends have their own.
  constexpr std::size_t kDrops = kColumns.size() - 1;
  for (const auto& [site, sample] : samples) {
    const std::vector<LinkMap::Part>& parts = map.at(site);
    if (!is_sample(sample, parts.size())) continue;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].has_a && parts[i].has_b) continue;
      const std::size_t trunk = 2 * i + (parts[i].has_a ? 1 : 0);
      json& far = columns[kDrops][2 * parts[i].link + (parts[i].has_a ? 1 : 0)];
      if (const double dropped = sample["drops"][trunk].get<double>(); dropped > 0) far = far.get<double>() + dropped;
    }
  }
  std::string up;
  for (const int ends : ends_up) up += ends == 2 ? '1' : '0';
  out["up"] = std::move(up);
  for (std::size_t c = 0; c < kColumns.size(); ++c) out[kColumns[c]] = std::move(columns[c]);
  return out;
}

namespace {

constexpr std::array kSums{"out", "in", "marked", "pauses", "drops"};

}  // namespace

bool is_history(const json& history) {
  if (!history.is_object() || !is_numbers(history, "t", 0) || !is_numbers(history, "modelled", history["t"].size())) return false;
  const json step = history.value("step_seconds", json());
  if (!step.is_number() || step <= 0) return false;
  const std::size_t n = history["t"].size();
  return is_numbers(history, "depth", n) && std::ranges::all_of(kSums, [&](const char* c) { return is_numbers(history, c, n); });
}

json merged_history(const Answers& histories) {
  const json* base = nullptr;
  for (const auto& [site, h] : histories)
    if (is_history(h) && (base == nullptr || h["t"].size() > (*base)["t"].size())) base = &h;
  json out{{"of", ""}, {"step_seconds", 1}, {"t", json::array()}, {"modelled", json::array()}, {"depth", json::array()}};
  for (const char* c : kSums) out[c] = json::array();
  if (base == nullptr) return out;
  for (const char* key : {"step_seconds", "t", "modelled"}) out[key] = (*base)[key];
  const double step = out["step_seconds"].get<double>();
  const std::size_t steps = out["t"].size();
  std::array<std::vector<double>, kSums.size()> sums;
  for (auto& column : sums) column.assign(steps, 0);
  std::vector<double> depth(steps, 0);
  for (const auto& [site, h] : histories) {
    if (!is_history(h)) continue;
    const json& t = h["t"];
    const double reach = std::max(step, h["step_seconds"].get<double>());
    std::size_t i = 0;
    for (std::size_t s = 0; s < steps && !t.empty(); ++s) {
      // Of its steps the nearest; none where it has nothing from then.
      const double at = out["t"][s].get<double>();
      const auto away = [&](std::size_t k) { return std::abs(t[k].get<double>() - at); };
      while (i + 1 < t.size() && away(i + 1) <= away(i)) ++i;
      if (away(i) > reach) continue;
      for (std::size_t c = 0; c < kSums.size(); ++c) sums[c][s] += h[kSums[c]][i].get<double>();
      depth[s] = std::max(depth[s], h["depth"][i].get<double>());
    }
  }
  for (std::size_t c = 0; c < kSums.size(); ++c) out[kSums[c]] = std::move(sums[c]);
  out["depth"] = std::move(depth);
  return out;
}

}  // namespace railyard::front
