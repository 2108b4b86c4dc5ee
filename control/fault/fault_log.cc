#include "control/fault/fault_log.h"

#include <algorithm>
#include <array>
#include <map>
#include <sstream>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/spec/spec_error.h"

namespace railyard::fault {
namespace {

using Json = nlohmann::ordered_json;
using Kind = LoggedEvent::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 4> kKinds{
    {{Kind::kAdded, "added"}, {Kind::kBegin, "begin"}, {Kind::kEnd, "end"}, {Kind::kRemoved, "removed"}}};

std::string_view word(Kind kind) {
  return std::ranges::find(kKinds, kind, &std::pair<Kind, std::string_view>::first)->second;
}

}  // namespace

std::string line_of(const LoggedEvent& e) {
  Json j{{"event", word(e.kind)},
         {"fault", e.fault},
         {"what", e.what},
         {"on", e.where},
         {"requested_ps", e.requested.ps},
         {"effective_ps", e.effective.ps}};
  if (e.kind == Kind::kAdded)
    j["spec"] = e.text;
  else
    j["frames"] = e.frames ? Json(*e.frames) : Json(nullptr);
  return json_text(j);
}

std::vector<LoggedFault> read_log(const std::string& text, const std::string& file_name) {
  std::vector<LoggedFault> faults;
  std::map<std::string, std::size_t> present;  // by name
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    if (line.find_first_not_of(" \t\r") == line.npos) continue;
    const auto refuse = [&](const std::string& why) {
      throw spec::SpecError({file_name, number, 1}, why + "; expected a line of a fault log");
    };
    const Json j = Json::parse(line, nullptr, false);
    if (j.is_discarded() || !j.is_object()) refuse("is not a JSON object");
    const auto text_of = [&](const char* key) -> std::string {
      if (!j.contains(key) || !j[key].is_string()) refuse(fmt::format("has no text '{}'", key));
      return j[key].get<std::string>();
    };
    if (!j.contains("effective_ps") || !j["effective_ps"].is_number_integer() ||
        j["effective_ps"].get<std::int64_t>() < 0)
      refuse("has no instant 'effective_ps'");
    const Instant at{j["effective_ps"].get<std::int64_t>()};
    const std::string event = text_of("event");
    const std::string name = text_of("fault");
    if (event == word(Kind::kAdded)) {
      if (!present.emplace(name, faults.size()).second) refuse(fmt::format("adds {}, which exists already", name));
      faults.push_back({text_of("spec"), fmt::format("{}:{}", file_name, number), at, {}, {}});
      continue;
    }
    const auto found = present.find(name);
    if (found == present.end()) refuse(fmt::format("names {}, which was not added", name));
    LoggedFault& f = faults[found->second];
    if (event == word(Kind::kBegin)) {
      if (!f.happened.empty() && f.happened.back().end > at)
        refuse(fmt::format("begins {}, which has not ended", name));
      f.happened.push_back({at, Instant::never()});
    } else if (event == word(Kind::kEnd)) {
      if (f.happened.empty() || f.happened.back().end != Instant::never() || at < f.happened.back().begin)
        refuse(fmt::format("ends {}, which has not begun", name));
      f.happened.back().end = at;
    } else if (event == word(Kind::kRemoved)) {
      if (!f.happened.empty() && f.happened.back().end > at) f.happened.back().end = at;
      f.removed = at;
      present.erase(found);
    } else {
      refuse(fmt::format("has an unknown event '{}'", event));
    }
  }
  return faults;
}

}  // namespace railyard::fault
