// What two labs say differently, in the words of the fabric file.
#pragma once

#include <string>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// One thing that a lab says, defaults too: "qos.default.classes.3.ecn.kmin" is "400KB". A link goes by its first end,
// traffic by its name: paths that --set understands, if the file says it there and no preset does.
struct Saying {
  std::string path;
  std::string value;

  bool operator==(const Saying&) const = default;
};

// All that can be set while a lab is up, in the order of the file: what is_live() says yes to.
std::vector<Saying> live_sayings(const Lab& lab);

// Whether what is said at `path` can become something else while a lab is up: thresholds, marking, sharing and path
// policy of a class; ECMP; the rates of links and of built-in traffic.
bool is_live(const std::string& path);

struct Difference {
  std::string path;
  std::string from;  // "-": not said
  std::string to;
};
// Ordered by path. Empty if, and only if, the labs say the same.
std::vector<Difference> differences(const Lab& from, const Lab& to);

}  // namespace railyard::spec
