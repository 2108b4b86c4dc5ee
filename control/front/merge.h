// The answers of several sites as one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/front/site_plan.h"

namespace railyard::front {

// By site: what it has answered; a site that is away has none.
using Answers = std::map<std::string, nlohmann::json>;

struct SiteState {
  std::string name;
  std::string lab;
  std::string why_gone;  // empty: it is up
};

// GET /lab and GET /status: counters side by side, each host, port and trunk with its `site`; hosts of sites that are away are
// down; `sites` has each site's state, and how its clock stands to the first site's.
nlohmann::json merged_lab(const std::string& name, const SitePlan& plan, const Answers& answers,
                          const std::vector<SiteState>& states);
nlohmann::json merged_status(const std::string& name, const SitePlan& plan, const Answers& answers,
                             const std::vector<SiteState>& states);
// Hosts of sites that are away, as down, with why.
void add_hosts_of_sites_away(const SitePlan& plan, const std::vector<SiteState>& states, nlohmann::json& hosts);
// Lists of that name put together; other keys are those of the first answer. `text` is put together, too.
nlohmann::json merged_lists(const Answers& answers, const std::vector<std::string>& lists);
// GET /audit: sums.
nlohmann::json merged_audit(const Answers& answers);

// How each site's simulated clock stands to that of `first`, from what trunks have measured: the sum over the trunks with the
// smallest errors on the way. Sites without a way are left out.
struct ClockOffset {
  std::int64_t offset_ns = 0;  // its time minus the first one's
  std::int64_t error_ns = 0;   // at most
};
std::map<std::string, ClockOffset> clock_offsets(const SitePlan& plan, const Answers& statuses, const std::string& first);

}  // namespace railyard::front
