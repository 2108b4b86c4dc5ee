// Faults, hosts and collectives of the whole lab, from what each site says of its part.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/front/link_map.h"
#include "control/front/merge.h"

namespace railyard::front {

// Whether a site's answer has what is needed of it.
bool is_state(const nlohmann::json& state);

// The state as of GET /events, and `sites` as of GET /lab. `states`: what sites said last, for those that are up. A fault that is at
// several sites is one: it acts where any part does.
nlohmann::json merged_state(const std::string& name, const SitePlan& plan, const LinkMap& map, const Answers& states,
                            const std::vector<SiteState>& sites);

// Where nodes and links are in the picture, as of GET /layout; each node with its `site`. Throws api::ApiError.
nlohmann::json whole_layout(const SitePlan& plan, const LinkMap& map, const std::string& folding);

}  // namespace railyard::front
