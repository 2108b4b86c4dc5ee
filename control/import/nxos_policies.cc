#include "control/import/nxos_policies.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/import/config_db.h"
#include "control/import/setting_values.h"
#include "control/import/thresholds.h"

namespace railyard::importing {
namespace {

constexpr long long kMostOctets = 1'000'000'000;

// 3 of the system's classes c-out-8q-q3, c-in-q3, c-8q-nq3; 0 of c-out-8q-q-default, c-nq-default and class-default.
std::optional<int> group_of_system_class(std::string_view name) {
  if (name == "class-default") return 0;
  if (!name.starts_with("c-")) return std::nullopt;
  if (name.ends_with("q-default")) return 0;
  const char last = name.back();
  if (name.size() < 4 || last < '0' || last > '7' || name[name.size() - 2] != 'q') return std::nullopt;
  return last - '0';
}

const ConfigLine* class_map(const RunningConfig& config, std::string_view type, const std::string& name) {
  for (const ConfigLine* line : config.all({"class-map", "type", type}))
    if (line->words.back() == name) return &take(*line);
  return nullptr;
}

// The qos-groups of `class type queuing NAME` and `class type network-qos NAME`.
std::vector<int> groups_of_class(const RunningConfig& config, std::string_view type, const ConfigLine& by) {
  const std::string& name = by.words.back();
  const ConfigLine* const map = class_map(config, type, name);
  if (map == nullptr) {
    if (const auto group = group_of_system_class(name)) return {*group};
    config.fail(by, fmt::format("class '{}'", name), fmt::format("the name of a `class-map type {}`", type));
  }
  std::vector<int> out;
  for (const ConfigLine& line : map->below) {
    if (!line.begins({"match", "qos-group"}) || line.words.size() != 3) continue;
    const auto groups = number_list(take(line).words[2], 0, 7);
    if (!groups) config.fail(line, fmt::format("qos-group '{}'", line.words[2]), "numbers, 0..7");
    out.insert(out.end(), groups->begin(), groups->end());
  }
  return out;
}

// What a class of a qos policy matches.
struct Matches {
  bool all = false;  // class-default
  std::vector<int> dscps;
  std::vector<int> cos;
  std::vector<const ConfigLine*> dscp_lines;
  std::vector<const ConfigLine*> cos_lines;
};

std::vector<int> code_points(const RunningConfig& config, const ConfigLine& line) {
  std::string list;
  for (std::size_t i = 2; i < line.words.size(); ++i) list += (list.empty() ? "" : ",") + line.words[i];
  std::vector<int> out;
  for (const std::string& part : split(list)) {
    if (const auto range = number_list(part, 0, 63)) {
      out.insert(out.end(), range->begin(), range->end());
      continue;
    }
    const auto point = code_point(part);
    if (!point) config.fail(line, fmt::format("dscp '{}'", part), "numbers, 0..63, or names such as af31");
    out.push_back(*point);
  }
  return out;
}

Matches matches_of(const RunningConfig& config, const ConfigLine& by) {
  Matches out;
  const std::string& name = by.words.back();
  if (name == "class-default") {
    out.all = true;
    return out;
  }
  const ConfigLine* const map = class_map(config, "qos", name);
  if (map == nullptr) config.fail(by, fmt::format("class '{}'", name), "the name of a `class-map type qos`");
  for (const ConfigLine& line : map->below) {
    if (line.begins({"match", "dscp"})) {
      const std::vector<int> points = code_points(config, line);
      out.dscps.insert(out.dscps.end(), points.begin(), points.end());
      out.dscp_lines.push_back(&take(line));
    } else if (line.begins({"match", "cos"}) && line.words.size() == 3) {
      const auto cos = number_list(line.words[2], 0, 7);
      if (!cos) config.fail(line, fmt::format("cos '{}'", line.words[2]), "numbers, 0..7");
      out.cos.insert(out.cos.end(), cos->begin(), cos->end());
      out.cos_lines.push_back(&take(line));
    } else if (line.begins({"match"})) {
      leave(line, "a fabric file classifies by DSCP or PCP");
    }
  }
  return out;
}

void set_unset(std::vector<int> points, int group, auto& map, std::vector<bool>& is_set) {
  for (const int p : points) {
    const auto at = static_cast<std::size_t>(p);
    if (is_set[at]) continue;  // an earlier class has it
    map[at] = group;
    is_set[at] = true;
  }
}

void read_queue_limit(const RunningConfig& config, const ConfigLine& line, NxosQueue& into) {
  if (line.words.size() > 1 && line.words[1] == "dynamic") {
    leave(line, "what share of the buffer this is depends on the ASIC; set queue-alpha");
    return;
  }
  const auto value = config.number_after(line, "queue-limit", 0, kMostOctets);
  const std::string* const unit = line.words.size() > 2 ? &line.words[2] : nullptr;
  if (unit != nullptr && (*unit == "packets" || *unit == "ms" || *unit == "us" || *unit == "percent")) {
    leave(line, "limits of a fabric file are octets");
    return;
  }
  const auto octets = unit == nullptr ? std::optional<std::int64_t>(1) : octets_per_unit(*unit);
  if (!octets) config.fail(line, fmt::format("queue-limit {} {}", *value, *unit), "bytes, kbytes or mbytes");
  if (!into.buffer) into.buffer.emplace();
  into.buffer->limit = *value * *octets;
  into.lines.push_back(&take(line));
}

void read_random_detect(const RunningConfig& config, const ConfigLine& line, NxosQueue& into) {
  const auto thresholds = read_thresholds(config, line, 0);
  if (!thresholds) return;
  const auto percent = config.number_after(line, "drop-probability", 0, 100);
  if (const std::string* const weight = line.after("weight"); weight != nullptr && *weight != "0")
    config.remark(line, "weight " + *weight, "queues of a fabric file mark by their present depth");
  into.settings.wred = WredCurve{.min = thresholds->min,
                                 .max = thresholds->max,
                                 .percent = percent.value_or(100),
                                 .marks = line.words.back() == "ecn" || line.after("ecn") != nullptr,
                                 .drops_others = true};
  into.lines.push_back(&take(line));
}

void read_queue(const RunningConfig& config, const ConfigLine& block, NxosQueue& into) {
  for (const ConfigLine& line : block.below) {
    if (line.begins({"bandwidth"})) {
      const auto percent = config.number_after(line, "percent", 0, 100);
      if (!percent) continue;
      into.lines.push_back(&take(line));
      if (*percent > 0) into.settings.weight = *percent;
    } else if (line.words[0] == "priority") {
      into.settings.strict = true;
      into.lines.push_back(&take(line));
    } else if (line.begins({"random-detect", "minimum-threshold"})) {
      read_random_detect(config, line, into);
    } else if (line.begins({"queue-limit"})) {
      read_queue_limit(config, line, into);
    }
  }
  if (into.settings.strict) into.settings.weight.reset();
}

// Calls `use(class line, group)` for each class of the policy.
template <class Use>
void for_each_group(const RunningConfig& config, std::string_view type, const ConfigLine* policy, Use use) {
  if (policy == nullptr) return;
  for (const ConfigLine& block : policy->below) {
    if (!block.begins({"class", "type", type}) || block.words.size() != 4) continue;
    for (const int group : groups_of_class(config, type, take(block))) use(block, static_cast<std::size_t>(group));
  }
}

}  // namespace

const ConfigLine* nxos_policy(const RunningConfig& config, std::string_view type, const ConfigLine& by,
                              const std::string& name) {
  std::vector<std::string> names;
  for (const ConfigLine* line : config.all({"policy-map", "type", type})) {
    if (line->words.size() != 4) continue;
    if (line->words[3] == name) return &take(*line);
    names.push_back(line->words[3]);
  }
  if (name.starts_with("default-")) {
    leave(by, "a policy of the system, whose values are not in the file");
    return nullptr;
  }
  config.fail(by, fmt::format("service-policy '{}'", name),
              names.empty() ? fmt::format("the name of a `policy-map type {}`; the file has none", type)
                            : fmt::format("the name of a `policy-map type {}`: {}", type, fmt::join(names, ", ")));
}

NxosGroups read_nxos_groups(const RunningConfig& config, const ConfigLine* policy) {
  NxosGroups out;
  if (policy == nullptr) return out;
  std::vector<bool> dscp_set(64);
  std::vector<bool> cos_set(8);
  bool any_dscp = false;
  std::vector<const ConfigLine*> cos_lines;
  std::vector<int> all_dscps(64);
  std::vector<int> all_cos(8);
  for (std::size_t i = 0; i < 64; ++i) all_dscps[i] = static_cast<int>(i);
  for (std::size_t i = 0; i < 8; ++i) all_cos[i] = static_cast<int>(i);
  out.sources.push_back(policy->source());
  for (const ConfigLine& block : policy->below) {
    if (!block.begins({"class"}) || block.words.size() < 2) continue;
    const Matches matches = matches_of(config, take(block));
    int group = 0;
    for (const ConfigLine* line : matches.dscp_lines) out.sources.push_back(line->source());
    for (const ConfigLine* line : matches.cos_lines) out.sources.push_back(line->source());
    for (const ConfigLine& line : block.below)
      if (const auto n = line.begins({"set", "qos-group"}) ? config.number_after(line, "qos-group", 0, 7) : std::nullopt) {
        group = static_cast<int>(*n);
        out.sources.push_back(take(line).source());
      }
    any_dscp = any_dscp || !matches.dscps.empty();
    cos_lines.insert(cos_lines.end(), matches.cos_lines.begin(), matches.cos_lines.end());
    set_unset(matches.all ? all_dscps : matches.dscps, group, out.of_dscp, dscp_set);
    set_unset(matches.all ? all_cos : matches.cos, group, out.of_cos, cos_set);
  }
  out.trust_cos = !any_dscp && !cos_lines.empty();
  if (any_dscp)
    for (const ConfigLine* line : cos_lines) leave(*line, "other classes match a DSCP, and a port trusts one of both");
  return out;
}

std::array<NxosNetworkClass, kClasses> read_nxos_network(const RunningConfig& config, const ConfigLine* policy) {
  std::array<NxosNetworkClass, kClasses> out;
  for_each_group(config, "network-qos", policy, [&](const ConfigLine& block, std::size_t group) {
    for (const ConfigLine& line : block.below) {
      if (line.begins({"pause", "pfc-cos"}) || line.text == "pause no-drop" || line.text == "no-drop") {
        const auto cos = config.number_after(line, "pfc-cos", 0, 7);
        if (cos && static_cast<std::size_t>(*cos) != group)
          config.remark(line, line.text, fmt::format("pauses of class {} carry its own number in a fabric file", group));
        out[group].pause = &take(line);
      } else if (const auto mtu = line.begins({"mtu"}) ? config.number_after(line, "mtu", 576, 9216) : std::nullopt) {
        out[group].mtu = *mtu;
        take(line);
      }
    }
  });
  return out;
}

std::array<NxosQueue, kClasses> read_nxos_queues(const RunningConfig& config, const ConfigLine* policy) {
  std::array<NxosQueue, kClasses> out;
  for_each_group(config, "queuing", policy,
                 [&](const ConfigLine& block, std::size_t group) { read_queue(config, block, out[group]); });
  return out;
}

std::array<NxosPause, kClasses> read_nxos_pauses(const RunningConfig& config, const ConfigLine* policy) {
  std::array<NxosPause, kClasses> out;
  for_each_group(config, "queuing", policy, [&](const ConfigLine& block, std::size_t group) {
    for (const ConfigLine& line : block.below) {
      if (!line.begins({"pause", "buffer-size"})) continue;
      const auto size = config.number_after(take(line), "buffer-size", 1, kMostOctets);
      const auto pause = config.number_after(line, "pause-threshold", 1, kMostOctets);
      const auto resume = config.number_after(line, "resume-threshold", 1, kMostOctets);
      GroupBuffer buffer;
      out[group].line = &line;
      if (pause && *pause > *size)
        config.fail(line, fmt::format("pause-threshold {}, above buffer-size", *pause), fmt::format("at most {}", *size));
      if (pause && resume && *resume > *pause)
        config.fail(line, fmt::format("resume-threshold {}, above pause-threshold", *resume),
                    fmt::format("at most {}", *pause));
      if (pause) {
        buffer.limit = *pause;
        buffer.headroom = *size - *pause;
        if (resume) buffer.xon_offset = *pause - *resume;
      } else {
        buffer.headroom = *size;
      }
      out[group].group = buffer;
    }
  });
  return out;
}

}  // namespace railyard::importing
