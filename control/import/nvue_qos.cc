#include "control/import/nvue_qos.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/import/config_db.h"
#include "control/spec/value.h"

namespace railyard::importing {
namespace {

using spec::Tree;

// Of the profile for all ports, and of values that a profile does not say.
constexpr std::int64_t kEcnMin = 150'000;  // octets
constexpr std::int64_t kEcnMax = 1'500'000;
constexpr std::int64_t kEcnPercent = 100;
constexpr std::int64_t kMostOctetsOfNvue = std::int64_t{1} << 32;

// 10000, "10000 B", "40 KB".
std::int64_t nvue_octets(const NvueTree& tree, const Tree& value) {
  std::string text = tree.text(value, {}).value_or("");
  std::erase(text, ' ');
  const std::optional<std::int64_t> plain = whole_number(text);
  const auto said = spec::parse_size(plain ? text + "B" : text);
  if (!said || said->n < 0 || said->n > kMostOctetsOfNvue)
    tree.fail(value, fmt::format("'{}'", text), "a number of octets, such as 150000");
  return said->n;
}

// `entry.KEY` in octets, else `otherwise`. Adds to `sources`.
std::int64_t octets_or(const NvueTree& tree, const Tree& entry, std::string_view key, std::int64_t otherwise,
                       std::vector<std::string>& sources) {
  const Tree* const value = entry.find(key);
  if (value == nullptr) return otherwise;
  sources.push_back(tree.source(*value));
  return nvue_octets(tree, *value);
}

// enable, disable, on, off, enabled, disabled; `otherwise` if it is not there.
bool is_enabled(const NvueTree& tree, const Tree& entry, std::string_view key, bool otherwise) {
  const auto said = tree.text(entry, {key});
  if (!said) return otherwise;
  if (*said == "enable" || *said == "on" || *said == "enabled" || *said == "true") return true;
  if (*said == "disable" || *said == "off" || *said == "disabled" || *said == "false") return false;
  tree.fail(*entry.find(key), fmt::format("'{}'", *said), "enable or disable");
}

void read_code_points(const NvueTree& tree, const Tree& mapping, const char* key, int most, auto& priority_of,
                      std::vector<std::string>& sources) {
  const Tree* const map = tree.find(mapping, {key});
  if (map == nullptr) return;
  for (const auto& [points, entry] : tree.numbered(*map, most)) {
    const auto priority = tree.number(*entry, {"switch-priority"}, 0, 7);
    if (!priority) tree.fail(*entry, "no switch-priority", "switch-priority: 0..7");
    sources.push_back(tree.source(*entry->find("switch-priority")));
    for (const int point : points) priority_of[static_cast<std::size_t>(point)] = static_cast<int>(*priority);
  }
}

// Classes of the switch priorities: the same number; with roce 3 and 6 have their own class and others are in 0.
std::array<int, 8> read_queue_mapping(const NvueTree& tree, const NvueRoceMode& roce, std::vector<std::string>& sources) {
  std::array<int, 8> out{0, 1, 2, 3, 4, 5, 6, 7};
  if (roce.mode != NvueRoce::kOff) out = {0, 0, 0, 3, 0, 0, 6, 0};
  const Tree* const map = tree.find(tree.set(), {"qos", "egress-queue-mapping", kGlobalProfile, "switch-priority"});
  if (map == nullptr) return out;
  for (const auto& [priorities, entry] : tree.numbered(*map, 7)) {
    const auto c = tree.number(*entry, {"traffic-class"}, 0, 7);
    if (!c) continue;
    sources.push_back(tree.source(*entry->find("traffic-class")));
    for (const int p : priorities) out[static_cast<std::size_t>(p)] = static_cast<int>(*c);
  }
  return out;
}

void read_scheduler(const NvueTree& tree, const Tree& profile, NvueQueues& into) {
  const Tree* const map = tree.find(profile, {"traffic-class"});
  if (map == nullptr) return;
  for (const auto& [classes, entry] : tree.numbered(*map, 7)) {
    const std::string mode = tree.text(*entry, {"mode"}).value_or("dwrr");
    if (mode != "dwrr" && mode != "strict") tree.fail(*entry->find("mode"), fmt::format("'{}'", mode), "dwrr or strict");
    const auto percent = tree.number(*entry, {"bw-percent"}, 0, 100);
    for (const int c : classes) {
      const auto at = static_cast<std::size_t>(c);
      into.queues[at].strict = mode == "strict";
      into.queues[at].weight.reset();
      if (mode == "dwrr" && percent && *percent > 0) into.queues[at].weight = *percent;
      for (const char* key : {"mode", "bw-percent"})
        if (const Tree* const said = entry->find(key)) into.sources[at].push_back(tree.source(*said));
    }
  }
  std::int64_t sum = 0;
  for (const QueueSettings& queue : into.queues) sum += queue.weight.value_or(0);
  if (sum > 100) tree.fail(*map, fmt::format("bw-percent of {} in all", sum), "at most 100");
}

void read_congestion(const NvueTree& tree, const Tree& profile, NvueQueues& into) {
  const Tree* const map = tree.find(profile, {"traffic-class"});
  if (map == nullptr) return;
  for (const auto& [classes, entry] : tree.numbered(*map, 7)) {
    std::vector<std::string> sources;
    WredCurve curve;
    const bool ecn = is_enabled(tree, *entry, "ecn", true);
    const bool red = is_enabled(tree, *entry, "red", false);
    curve.min = octets_or(tree, *entry, "min-threshold", kEcnMin, sources);
    curve.max = octets_or(tree, *entry, "max-threshold", kEcnMax, sources);
    curve.percent = tree.number(*entry, {"probability"}, 0, 100).value_or(kEcnPercent);
    if (const Tree* const said = entry->find("probability")) sources.push_back(tree.source(*said));
    curve.marks = ecn;
    curve.drops_others = red;
    if (curve.min > curve.max)
      tree.fail(entry->at_or_self("min-threshold"), fmt::format("{}, above max-threshold", curve.min),
                fmt::format("at most {}", curve.max));
    for (const int c : classes) {
      const auto at = static_cast<std::size_t>(c);
      into.queues[at].wred = ecn || red ? std::optional(curve) : std::nullopt;
      into.sources[at].insert(into.sources[at].end(), sources.begin(), sources.end());
    }
  }
}

}  // namespace

NvueRoceMode read_nvue_roce(const NvueTree& tree) {
  NvueRoceMode out;
  const Tree* const roce = tree.find(tree.set(), {"qos", "roce"});
  if (roce == nullptr || !is_enabled(tree, *roce, "enable", true)) return out;
  if (const Tree* const state = roce->find("state"); state != nullptr && !is_enabled(tree, *roce, "state", true)) return out;
  const std::string mode = tree.text(*roce, {"mode"}).value_or("lossless");
  const Tree& said = roce->at_or_self("mode");
  if (mode == "lossy-multi-tc") {
    tree.leave(said, "the values of this mode are not built in");
    return out;
  }
  if (mode != "lossless" && mode != "lossless-single-ipool" && mode != "lossy")
    tree.fail(said, fmt::format("'{}'", mode), "lossless, lossless-single-ipool, lossy or lossy-multi-tc");
  out.mode = mode == "lossy" ? NvueRoce::kLossy : NvueRoce::kLossless;
  out.cable = tree.number(*roce, {"cable-length"}, 1, 100'000);
  out.source = fmt::format("line {}: qos.roce, mode {}", said.place.line, mode);
  return out;
}

const Tree* nvue_profile(const NvueTree& tree, std::string_view feature, const std::string& name, const Tree* by) {
  const Tree* const profiles = tree.find(tree.set(), {"qos", feature});
  const Tree* const out = profiles == nullptr ? nullptr : tree.find(*profiles, {name});
  if (out != nullptr || name == kGlobalProfile || by == nullptr) return out;
  std::vector<std::string> names;
  if (profiles != nullptr)
    for (const Tree::Entry& entry : profiles->entries) names.push_back(entry.key);
  tree.fail(*by, fmt::format("'{}'", name),
            names.empty() ? fmt::format("a name in qos.{}, which is missing", feature)
                          : fmt::format("a name in qos.{}: {}", feature, fmt::join(names, ", ")));
}

NvueMaps read_nvue_maps(const NvueTree& tree, const Tree* mapping, const NvueRoceMode& roce) {
  NvueMaps out;
  std::array<int, 64> priority_of_dscp{};
  std::array<int, 8> priority_of_pcp{0, 1, 2, 3, 4, 5, 6, 7};
  for (std::size_t d = 0; d < 64; ++d) priority_of_dscp[d] = static_cast<int>(d / 8);
  std::string trust = roce.mode == NvueRoce::kOff ? "l2" : "both";
  if (roce.mode != NvueRoce::kOff) out.sources.push_back(roce.source);
  if (mapping != nullptr) {
    if (const auto said = tree.text(*mapping, {"trust"})) {
      trust = *said;
      out.sources.push_back(tree.source(*mapping->find("trust")));
    }
    if (trust != "l2" && trust != "l3" && trust != "both" && trust != "port")
      tree.fail(*mapping->find("trust"), fmt::format("'{}'", trust), "l2, l3, both or port");
    read_code_points(tree, *mapping, "dscp", 63, priority_of_dscp, out.sources);
    read_code_points(tree, *mapping, "pcp", 7, priority_of_pcp, out.sources);
    if (trust == "port") priority_of_dscp.fill(static_cast<int>(tree.number(*mapping, {"port-default-sp"}, 0, 7).value_or(0)));
  }
  out.class_of_priority = read_queue_mapping(tree, roce, out.sources);
  ClassMaps& maps = out.maps;
  maps.trust_pcp = trust == "l2";
  const auto class_of = [&](int priority) { return out.class_of_priority[static_cast<std::size_t>(priority)]; };
  for (std::size_t d = 0; d < 64; ++d) maps.class_of_dscp[d] = class_of(priority_of_dscp[d]);
  for (std::size_t p = 0; p < 8; ++p) maps.class_of_pcp[p] = class_of(priority_of_pcp[p]);
  for (const int c : maps.class_of_dscp) maps.is_reached[static_cast<std::size_t>(c)] |= !maps.trust_pcp;
  for (const int c : maps.class_of_pcp) maps.is_reached[static_cast<std::size_t>(c)] |= maps.trust_pcp;
  return out;
}

NvueQueues read_nvue_queues(const NvueTree& tree, const Tree* scheduler, const Tree* congestion, bool global_scheduler,
                            bool global_congestion, const NvueRoceMode& roce) {
  NvueQueues out;
  const bool is_roce = roce.mode != NvueRoce::kOff;
  if (global_scheduler && is_roce) {
    out.queues[0].weight = out.queues[3].weight = 50;
    out.queues[6].strict = true;
  } else if (global_scheduler && scheduler == nullptr) {
    for (std::size_t c = 0; c < kClasses; ++c) out.queues[c].weight = c % 2 == 0 ? 12 : 13;
  }
  if (global_congestion) {
    const WredCurve usual{.min = kEcnMin, .max = kEcnMax, .percent = kEcnPercent, .marks = true, .drops_others = false};
    out.queues[0].wred = usual;
    if (is_roce) out.queues[3].wred = usual;
  }
  if (is_roce)
    for (const std::size_t c : {std::size_t{0}, std::size_t{3}, std::size_t{6}}) out.sources[c].push_back(roce.source);
  if (scheduler != nullptr) read_scheduler(tree, *scheduler, out);
  if (congestion != nullptr) read_congestion(tree, *congestion, out);
  return out;
}

NvuePfc read_nvue_pfc(const NvueTree& tree, const Tree* profile, const NvueRoceMode& roce) {
  NvuePfc out;
  if (profile == nullptr) {
    if (roce.mode != NvueRoce::kLossless) return out;
    out.priorities.insert(3);
    out.sources.push_back(roce.source);
    if (roce.cable) out.cable = fmt::format("{}m", *roce.cable);
    return out;
  }
  out.tree = profile;
  if (const Tree* const map = tree.find(*profile, {"switch-priority"}))
    for (const auto& [priorities, entry] : tree.numbered(*map, 7)) {
      out.priorities.insert(priorities.begin(), priorities.end());
      out.sources.push_back(tree.source(*entry));
    }
  const bool tx = is_enabled(tree, *profile, "tx", true);
  const bool rx = is_enabled(tree, *profile, "rx", true);
  if (!tx && !rx) out.priorities.clear();
  if (tx != rx)
    tree.leave(*profile->find(tx ? "rx" : "tx"), "a class of a fabric file pauses and is paused; taken as enable");
  if (const auto cable = tree.number(*profile, {"cable-length"}, 1, 100'000)) out.cable = fmt::format("{}m", *cable);
  std::vector<std::string>& sources = out.sources;
  const Tree* const xoff = profile->find("xoff-threshold");
  const Tree* const buffer = profile->find("port-buffer");
  if (xoff != nullptr) out.group.limit = octets_or(tree, *profile, "xoff-threshold", 0, sources);
  if (profile->find("xon-threshold") != nullptr) out.group.xon_offset = octets_or(tree, *profile, "xon-threshold", 0, sources);
  if (buffer != nullptr) {
    const std::int64_t size = octets_or(tree, *profile, "port-buffer", 0, sources);
    if (xoff == nullptr) {
      out.group.headroom = size;
    } else if (size < *out.group.limit) {
      tree.fail(*buffer, fmt::format("{}, below xoff-threshold", size), fmt::format("at least {}", *out.group.limit));
    } else {
      out.group.headroom = size - *out.group.limit;
    }
  }
  if (out.group.limit && out.group.xon_offset && *out.group.xon_offset > *out.group.limit)
    tree.fail(*profile->find("xon-threshold"), fmt::format("{}, above xoff-threshold", *out.group.xon_offset),
              fmt::format("at most {}", *out.group.limit));
  out.says_group = out.group.limit || out.group.xon_offset || out.group.headroom;
  return out;
}

}  // namespace railyard::importing
