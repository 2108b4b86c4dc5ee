// The smallest list that still fails: delta debugging (Zeller and Hildebrandt, "Simplifying and Isolating Failure-
// Inducing Input", IEEE TSE 2002; the algorithm ddmin).
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace railyard::swarm {

// `fails` of all of `items` is true. What comes back fails, and without any one of its items it does not; unless `most`
// questions were too few, then it only fails.
std::vector<std::string> shrink(std::vector<std::string> items,
                                const std::function<bool(const std::vector<std::string>&)>& fails, int most);

}  // namespace railyard::swarm
