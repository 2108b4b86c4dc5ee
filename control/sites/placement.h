// A lab over several sites: which site runs which node, and the lab that each site runs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::sites {

// By node of the lab: the name of its site.
using Placement = std::vector<std::string>;

// Places every node at one of `sites`, which are names in Lab::sites. Nodes that SiteSpec::nodes names are there. Hosts stay
// with their switches; racks and scale-up networks stay whole. The others are placed so that few links cross and sites have
// about as many ports each (METIS); next to the nodes that are named, if there are any. The same lab always gives the same
// answer. Throws spec::SpecError: a cut that cannot be.
Placement place(const spec::Lab& lab, const std::vector<std::string>& sites);

// The links that lead from site to site: indices in Lab::links.
std::vector<std::size_t> crossing_links(const spec::Lab& lab, const Placement& placement);

// The lab of one site: its nodes and links, a trunk in the place of each link that crosses, and the traffic and faults that
// lie within it. Lab::whole is the lab as routing has to see it. Throws spec::SpecError: a link that crosses has no delay or
// is of a kind that trunks cannot be, or built-in traffic crosses.
spec::Lab part_of(const spec::Lab& lab, const Placement& placement, const std::string& site);

// What the daemon of one site runs, once every site lists its nodes.
spec::Lab part_of(const spec::Lab& lab, const std::string& site);

// The lab with every node listed at its site, and with these sites only: what is sent to the sites.
spec::Lab with_placement(const spec::Lab& lab, const Placement& placement);

}  // namespace railyard::sites
