// The algorithms that there are: one line each in the list, one declaration each here.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "control/collectives/algorithm.h"

namespace railyard::collectives {

extern const Algorithm kRing;
extern const Algorithm kTree;
extern const Algorithm kSingleTree;
extern const Algorithm kHalvingDoubling;
extern const Algorithm kHalving;
extern const Algorithm kDoubling;
extern const Algorithm kDirect;
extern const Algorithm kHierarchicalRing;
extern const Algorithm kHierarchicalTree;
extern const Algorithm kDissemination;
extern const Algorithm kInNetwork;
// What stands for an algorithm where ranks do what a trace says; not in the list.
extern const Algorithm kOfTrace;

// In the order in which texts name them.
inline constexpr std::array kAlgorithms{
    &kRing,     &kTree,     &kSingleTree, &kHalvingDoubling,  &kHalving,
    &kDoubling, &kDirect,   &kHierarchicalRing, &kHierarchicalTree, &kDissemination,
    &kInNetwork,
};

// Those that do `operation`, the usual one first; never empty.
const std::vector<const Algorithm*>& algorithms(Operation operation);

// The reference of all of them: "ring (...): all-reduce, ...", one line each.
std::string algorithms_help();

}  // namespace railyard::collectives
