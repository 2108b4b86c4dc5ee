// What links of the whole lab carry, from what each site says of its part.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/front/link_map.h"
#include "control/front/merge.h"

namespace railyard::front {

// A sample as of GET /events. `samples`: those of sites that are up. What a link's end sends is what its site has counted; what a
// trunk has dropped counts for the other end. Links of sites without a sample, or with one that is none, are down. Of the keys that
// are the engine's: the busiest, the latest; `number` and the times are the caller's.
nlohmann::json merged_sample(const LinkMap& map, const Answers& samples);

// Ten minutes of the whole lab, as of GET /history?of=. `histories`: of sites, with `t` by one clock. The steps are those of the
// site that has kept most of them.
nlohmann::json merged_history(const Answers& histories);
// Whether these are columns of equal length.
bool is_history(const nlohmann::json& history);

}  // namespace railyard::front
