#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "control/spec/check/check.h"
#include "control/spec/suggest.h"

namespace railyard::spec {

void check_int(const Draft& draft) {
  if (draft.lab.run.in_band) check_int(draft.lab, *draft.lab.run.in_band, draft.sections.run->at_or_self("int"));
}

void check_int(const Lab& lab, const IntSpec& what, const Tree& said) {
  std::vector<std::string> names;
  for (const TrafficSpec& t : lab.traffic) names.push_back(t.name);
  const Tree& flows = said.at_or_self("flows");
  for (std::size_t i = 0; i < what.flows.size(); ++i) {
    const std::string traffic = what.flows[i].substr(0, what.flows[i].find('/'));
    if (std::ranges::find(names, traffic) != names.end()) continue;
    (i < flows.items.size() ? flows.items[i] : flows)
        .fail(fmt::format("there is no traffic '{}'{}", traffic, meant_or_known(traffic, names)));
  }
}

}  // namespace railyard::spec
