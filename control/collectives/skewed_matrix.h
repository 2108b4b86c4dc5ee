// The sizes of an all-to-all in which some ranks are sent more than others.
#pragma once

#include <cstdint>
#include <vector>

namespace railyard::collectives {

// Each of `ranks` ranks sends `size` octets, its own part included: to the k-th most popular rank in proportion to
// 1 / k^exponent (Zipf), in whole elements of `element` octets. Popularity is drawn from `chance` and is the same for all
// senders. Row by row; each row's sum is `size`.
std::vector<std::uint64_t> skewed_matrix(std::uint32_t ranks, std::uint64_t size, std::uint32_t element, double exponent,
                                         std::uint64_t chance);

}  // namespace railyard::collectives
