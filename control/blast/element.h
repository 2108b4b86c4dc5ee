// Parts of a fabric that can fail.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "control/spec/spec.h"
#include "dataplane/base/time.h"

namespace railyard::blast {

// In the order in which they are named to users.
enum class Kind { kLink, kNic, kSwitch, kRail, kRack, kPort, kMaintenance };

// "link"
const char* name(Kind kind) noexcept;
// Throws std::invalid_argument for another word.
Kind parse_kind(const std::string& word);

// One of them, or several that fail together.
struct Element {
  Kind kind = Kind::kLink;           // of the first
  std::string name;                  // "leaf1:5-spine1:1", "h1:1", "spine1", "rail 2", "rack1", "leaf1:5 out"; joined by " + "
  std::vector<std::string> faults;   // what is wrong: keys of faults but for their times, "on: \"spine1:1\", down: true"
  std::vector<std::size_t> nodes;    // in Lab::nodes, that fail
  std::vector<std::size_t> links;    // in Lab::links, that fail
  std::vector<std::string> hosts{};  // that fail: their own flows are lost with them
};

// All of these kinds, in the order of the file: a link between switches loses its signal; a NIC's link does; a switch
// crashes, with all its links; a rail is all switches that serve only one and the same NIC of hosts; a rack is all
// switches and hosts whose `rack` it is, the hosts by the links of their NICs; a port sends in vain, and keeps its
// signal; maintenance drains a switch, switches it off and on again, and lets it take traffic.
std::vector<Element> elements(const spec::Lab& lab, const std::vector<Kind>& kinds);
// Whether hosts that reach each other through switches do not while it is down, other than its own: by the topology
// alone.
bool divides(const spec::Lab& lab, const Element& element);
// Each two of those that do not divide the hosts by themselves: with another nothing new would be seen.
std::vector<Element> pairs(const spec::Lab& lab, const std::vector<Element>& all);

// Its faults as text, in force from `at` on for `lasts` (0: to the end). Under maintenance a switch is drained for as
// long, and off in the third quarter of that time (without an end: from a quarter of `at` later on).
std::vector<std::string> faults_of(const Element& element, Duration at, Duration lasts);

}  // namespace railyard::blast
