#include <algorithm>

#include <fmt/format.h>

#include "control/export/export.h"
#include "control/speakers/frr_config.h"
#include "control/speakers/speaker.h"

namespace railyard::exporting {

std::string frr(const spec::Lab& lab) {
  using Kind = spec::ControlSpec::Kind;
  const auto has_frr = [](const spec::NodeSpec& n) { return n.control && n.control->kind == Kind::kFrr; };
  spec::Lab all = lab;
  if (std::ranges::none_of(all.nodes, has_frr))
    for (spec::NodeSpec& n : all.nodes)
      if (n.kind == spec::NodeSpec::Kind::kSwitch) n.control = spec::ControlSpec{Kind::kFrr, {}};
  std::string out;
  for (const speakers::Speaker& s : speakers::speakers_of(all))
    if (s.control.kind == Kind::kFrr)
      out += fmt::format("{}! {}\n{}", out.empty() ? "" : "\n", s.name, speakers::frr_config(s, lab.routing));
  return out;
}

}  // namespace railyard::exporting
