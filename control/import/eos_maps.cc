#include "control/import/eos_maps.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/import/setting_values.h"

namespace railyard::importing {
namespace {

// Traffic classes 0 and 1 are swapped: the default class 1 comes before the background class 0.
int default_traffic_class(int precedence) { return precedence < 2 ? 1 - precedence : precedence; }

// "8 9 10-12 to traffic-class 1" of `line`, from word 3 on. Nothing without "to", or if it leads elsewhere.
std::optional<std::pair<std::vector<int>, int>> mapping(const RunningConfig& config, const ConfigLine& line, int most,
                                                        std::string_view to) {
  const auto at = std::ranges::find(line.words, "to");
  if (at == line.words.end() || at + 2 >= line.words.end() || *(at + 1) != to) return std::nullopt;
  std::vector<int> from;
  for (auto word = line.words.begin() + 3; word != at; ++word) {
    const auto numbers = number_list(*word, 0, most);
    if (!numbers) config.fail(line, fmt::format("{} '{}'", line.words[2], *word), fmt::format("numbers, 0..{}", most));
    from.insert(from.end(), numbers->begin(), numbers->end());
  }
  if (from.empty()) config.fail(line, fmt::format("no {} before 'to'", line.words[2]), fmt::format("numbers, 0..{}", most));
  return std::pair{from, static_cast<int>(config.number(line, to, *(at + 2), 0, 7))};
}

}  // namespace

EosMaps read_eos_maps(const RunningConfig& config) {
  EosMaps out;
  for (int dscp = 0; dscp < 64; ++dscp)
    out.traffic_class_of_dscp[static_cast<std::size_t>(dscp)] = default_traffic_class(dscp / 8);
  for (int cos = 0; cos < 8; ++cos) out.traffic_class_of_cos[static_cast<std::size_t>(cos)] = default_traffic_class(cos);
  for (const ConfigLine* line : config.all({"qos", "map"})) {
    const std::string_view what = line->words.size() > 2 ? std::string_view(line->words[2]) : "";
    const bool is_queue = what == "traffic-class";
    if (what != "dscp" && what != "cos" && !is_queue) continue;
    const auto map = mapping(config, *line, what == "dscp" ? 63 : 7, is_queue ? "tx-queue" : "traffic-class");
    if (!map) continue;
    for (const int from : map->first) {
      const auto at = static_cast<std::size_t>(from);
      (is_queue ? out.queue_of_traffic_class[at] : what == "cos" ? out.traffic_class_of_cos[at] : out.traffic_class_of_dscp[at]) =
          map->second;
    }
    out.sources.push_back(take(*line).source());
    if (const std::string* const precedence = line->after("drop-precedence"))
      config.remark(*line, "drop-precedence " + *precedence, "a fabric file has one threshold for all packets of a queue");
  }
  return out;
}

}  // namespace railyard::importing
