// What all readers do with the ports of a switch: order, numbers, and the names of the hosts behind them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "control/import/switch_config.h"

namespace railyard::importing {

// Mb/s of Ethernet ports.
inline constexpr std::array<std::int64_t, 13> kSpeeds{1'000,  2'500,   5'000,   10'000,  20'000,  25'000,   40'000,
                                                      50'000, 100'000, 200'000, 400'000, 800'000, 1'600'000};

// Letters, digits, '-' and '_', as the names of nodes in a fabric file.
std::string node_name(const std::string& name);

// The numbers of a name as numbers, so that Ethernet4 comes before Ethernet12 and 1/2 before 1/10.
std::vector<unsigned long> digits_of(const std::string& name);

// Names the host behind each linked port: by `peer`, else h1, h2, ... by the number of the port, and each name once;
// `switch_name` is taken.
void name_peers(std::vector<PortConfig>& ports, const std::string& switch_name);

}  // namespace railyard::importing
