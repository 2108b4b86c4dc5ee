// Pauses, causes and settings of the whole lab, from what each site says of its part.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "control/front/link_map.h"
#include "control/front/merge.h"

namespace railyard::front {

// GET /pauses: the trees of all sites. A tree that reaches over a link between sites is one at each.
nlohmann::json merged_pauses(const LinkMap& map, const Answers& answers);
// GET /pauses?at=.
nlohmann::json merged_pauses_at(const LinkMap& map, const Answers& answers, double at);
// GET /diagnosis: the surest finding first; what no site has looked at.
nlohmann::json merged_diagnosis(const std::string& name, const LinkMap& map, const Answers& answers);
// GET /settings: each path once. What sites have in common is the same at all.
nlohmann::json merged_settings(const Answers& answers);
// POST /settings: what has changed at any site.
nlohmann::json merged_changes(const Answers& answers);

}  // namespace railyard::front
