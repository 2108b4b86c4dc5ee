#include "control/compare/notes.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/frame_tags.h"

namespace railyard::compare {

std::vector<std::string> background_notes(const std::vector<spec::Lab>& labs) {
  std::vector<std::string> notes;
  if (labs.empty()) return notes;
  const spec::Lab& first = labs.front();
  std::set<std::string> profiles;
  for (const spec::NodeSpec& node : first.nodes)
    if (node.kind == spec::NodeSpec::Kind::kSwitch) profiles.insert(first.switches.at(node.profile).qos);
  for (const spec::TrafficSpec& t : first.traffic) {
    if (t.has_messages()) continue;
    for (const std::string& profile : profiles) {
      if (!first.qos.contains(profile)) continue;
      const auto number = static_cast<std::size_t>(spec::class_at_switch(first, first.qos.at(profile), t));
      const spec::TrafficClass& here = first.qos.at(profile).classes[number];
      const auto differs = [&](auto same) {
        return std::ranges::any_of(labs, [&](const spec::Lab& lab) {
          const auto found = lab.qos.find(profile);
          return found != lab.qos.end() && !same(found->second.classes[number]);
        });
      };
      std::vector<std::string_view> what;
      if (differs([&](const spec::TrafficClass& c) { return c.path == here.path; })) what.emplace_back("path");
      if (differs([&](const spec::TrafficClass& c) { return c.lossless == here.lossless; }))
        what.emplace_back("lossless");
      if (differs([&](const spec::TrafficClass& c) { return c.trim == here.trim; })) what.emplace_back("trim");
      if (what.empty()) continue;
      notes.push_back(fmt::format(
          "background traffic {} runs in class {}, and {} of this class differs between columns: it may explain "
          "part of the differences",
          t.name, number, fmt::join(what, ", ")));
      break;
    }
  }
  return notes;
}

}  // namespace railyard::compare
