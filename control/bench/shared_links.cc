#include "control/bench/shared_links.h"

#include <set>

#include <fmt/format.h>

namespace railyard::bench {
namespace {

std::string node_of(const std::string& port) { return port.substr(0, port.find(':')); }

std::set<std::string> hosts_of(const ReportJson& report) {
  std::set<std::string> hosts;
  for (const auto& c : list_of(report, "collectives"))
    for (const auto& rank : c["ranks"])
      hosts.insert(node_of(rank.get<std::string>().substr(0, rank.get<std::string>().find('/'))));
  return hosts;
}

bool carried(const ReportJson& port, int priority) {
  for (const auto& c : list_of(port, "classes"))
    if (c["class"] == priority && number(c["tx"]["packets"]).value_or(0) > 0) return true;
  return false;
}

}  // namespace

std::string problem_of_classes(const std::string& classes) {
  const auto is_class = [](char c) { return c >= '0' && c <= '7'; };
  if (classes.size() == 3 && is_class(classes[0]) && classes[1] == ',' && is_class(classes[2])) return {};
  return fmt::format("found '{}'; expected two classes, such as \"3,4\"", classes);
}

std::optional<double> shared_links(const ReportJson& report, const std::string& classes) {
  const int first = classes[0] - '0';
  const int second = classes[2] - '0';
  const std::set<std::string> hosts = hosts_of(report);
  double all = 0, both = 0;
  bool any_second = false;
  for (const auto& port : list_of(report, "ports")) {
    if (hosts.contains(port["node"].get<std::string>()) || hosts.contains(node_of(port["peer"].get<std::string>())))
      continue;
    const bool has_second = carried(port, second);
    any_second = any_second || has_second;
    if (!carried(port, first)) continue;
    ++all;
    both += has_second ? 1 : 0;
  }
  return all > 0 && any_second ? std::optional(both / all) : std::nullopt;
}

}  // namespace railyard::bench
