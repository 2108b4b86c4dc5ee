#include "control/acceptance/live/lab_state.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include <fmt/format.h>

namespace railyard::acceptance::live {
namespace {

// The first line that is not the same: "rate: 100Gbps", then what it is now.
std::string first_difference(const std::string& before, const std::string& after) {
  std::istringstream a(before), b(after);
  std::string old_line, new_line;
  for (int number = 1;; ++number) {
    const bool more_old = static_cast<bool>(std::getline(a, old_line));
    const bool more_new = static_cast<bool>(std::getline(b, new_line));
    if (!more_old && !more_new) return {};
    if (more_old && more_new && old_line == new_line) continue;
    const auto text = [](bool is, std::string line) {
      line.erase(0, std::min(line.find_first_not_of(' '), line.size()));
      return is ? fmt::format("'{}'", line) : std::string("nothing");
    };
    return fmt::format("line {} of its expanded file was {}, and is {}", number, text(more_old, old_line),
                       text(more_new, new_line));
  }
}

template <class Value, class Say>
std::string difference(const std::map<std::string, Value>& before, const std::map<std::string, Value>& after, Say say) {
  for (const auto& [name, value] : after) {
    const auto was = before.find(name);
    if (was == before.end() || was->second != value) return say(name, true);
  }
  for (const auto& [name, value] : before)
    if (!after.contains(name)) return say(name, false);
  return {};
}

}  // namespace

LabState state_of(const nlohmann::json& status, const nlohmann::json& faults, const nlohmann::json& flows,
                  std::string lab_yaml) {
  LabState s{.pid = status["pid"], .held = status["held"], .spec = std::move(lab_yaml)};
  for (const auto& p : status["ports"])
    s.links[fmt::format("{}:{}", p["node"].get<std::string>(), p["port"].get<int>())] = p["up"];
  for (const auto& f : faults["faults"])
    if (!f["removed"].get<bool>())
      s.faults[f["name"].get<std::string>()] =
          fmt::format("{} on {}", f["what"].get<std::string>(), f["on"].get<std::string>());
  for (const auto& t : flows["traffic"]) s.traffic[t["name"].get<std::string>()] = t["stopped"];
  return s;
}

std::string change(const LabState& before, const LabState& after) {
  if (before.pid != after.pid)
    return fmt::format("its daemon (PID {}) ended, and another one (PID {}) runs", before.pid, after.pid);
  if (std::string link = difference(before.links, after.links,
                                    [&](const std::string& name, bool is) {
                                      return is ? fmt::format("link {} went {}", name,
                                                              after.links.at(name) ? "up" : "down")
                                                : fmt::format("there is no link {} any more", name);
                                    });
      !link.empty())
    return link;
  if (std::string fault = difference(before.faults, after.faults,
                                     [&](const std::string& name, bool is) {
                                       return is ? fmt::format("fault '{}' was added: {}", name, after.faults.at(name))
                                                 : fmt::format("fault '{}' was removed: {}", name,
                                                               before.faults.at(name));
                                     });
      !fault.empty())
    return fault;
  if (std::string traffic = difference(before.traffic, after.traffic,
                                       [&](const std::string& name, bool) {
                                         const auto now = after.traffic.find(name);
                                         return fmt::format(
                                             "traffic '{}' was {}", name,
                                             now != after.traffic.end() && now->second ? "stopped" : "started again");
                                       });
      !traffic.empty())
    return traffic;
  if (before.held != after.held) return after.held ? "it was paused" : "it was resumed";
  if (before.spec != after.spec) return "a setting was changed: " + first_difference(before.spec, after.spec);
  return {};
}

}  // namespace railyard::acceptance::live
