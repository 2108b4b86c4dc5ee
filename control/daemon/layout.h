// Where the nodes and links of a lab are in its picture: the one that `railyard graph` draws, as numbers.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "control/picture/diagram.h"
#include "control/spec/spec.h"

namespace railyard::daemon {

// Nodes that can be shown each by itself.
inline constexpr std::size_t kMostUnfolded = 2'048;

// Keys: see Layout in openapi.json. Lengths are pixels of a picture of natural size. Links are numbered as in the lab,
// which is how `sample` events number them.
nlohmann::json layout_json(const spec::Lab& lab, picture::Folding folding);

// What a fault that is `on` these places ("leaf1:1, spine*") and of this kind ("loss") touches: `scope` ("link", "port",
// "switch", "host"), `nodes` by name, `links` by number.
nlohmann::json touched_json(const spec::Lab& lab, const std::string& on, const std::string& what);

}  // namespace railyard::daemon
