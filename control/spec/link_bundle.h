// Link aggregation (IEEE 802.1AX): parallel links between two switches that are one for routing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// In the place of a name: named by its ends, "leaf1-spine1".
inline constexpr std::string_view kAutomaticBundle = "auto";

// Gives each link with an automatic bundle that name.
void name_bundles(Lab& lab);

// The links of each bundle, in the order of the first of them.
struct LinkBundle {
  std::string name;
  std::vector<std::size_t> links;  // in Lab::links
};
std::vector<LinkBundle> link_bundles(const Lab& lab);
// For each of Lab::links the number of its bundle, from 1 in that order; 0: none.
std::vector<std::uint16_t> bundle_of_links(const Lab& lab);

}  // namespace railyard::spec
