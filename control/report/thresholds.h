// Thresholds as switches compare them: in whole cells, of which every frame takes whole ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "control/spec/spec.h"

namespace railyard::report {

// A fixed threshold of one class of one switch profile, at one link rate or port where that decides.
struct EffectiveThreshold {
  std::string profile;  // of switches
  int priority = 0;
  std::string name;   // "kmin", "kmax", "xoff", "queue-limit"; early drops: "drop.min", "drop.not-ect.max", ...
  std::string where;  // "100Gbps": at ports of that rate; "leaf1:3": there; empty: at all ports
  Bytes configured{};
  std::uint32_t cells = 0;  // depths (kmin, kmax, drop) rounded down, limits rounded up
  std::uint32_t frame = 0;   // the longest data frame of the lab in this class, octets with FCS
  // In such frames, whole ones: depths: the deepest queue found that is not yet above it; xoff: what is held when the
  // pause goes out; queue-limit: the most that is held.
  Bytes effective{};
};

// Of the classes that the lab's traffic and collectives use, by profile and class. Dynamic thresholds (alpha) are none.
std::vector<EffectiveThreshold> effective_thresholds(const spec::Lab& lab);

nlohmann::ordered_json thresholds_json(const std::vector<EffectiveThreshold>& thresholds);
// One line per class: "class 3 of default, frames of 4158 B: kmin 400 KB (1562 cells, effective 378 KB), ..."
std::string thresholds_text(const std::vector<EffectiveThreshold>& thresholds, const std::string& indent);

}  // namespace railyard::report
