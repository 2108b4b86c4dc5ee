// What a cable is made of, and how far it reaches at the rate of its link.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "control/spec/spec.h"

namespace railyard::spec {

struct CableMediumInfo {
  CableMedium medium;
  std::string_view name;  // as a key's value
  std::string_view help;
};

// Shortest reach first.
std::span<const CableMediumInfo> cable_media();

std::string_view name(CableMedium medium);

// The longest cable of a medium at a rate: of the Ethernet PHY of IEEE 802.3 that reaches farthest. Active cables are in no
// standard: what vendors sell.
//
// dac: 802.3by and bj (25 Gb/s a lane, to 100 Gb/s) 5 m, cd (50 Gb/s a lane) 3 m, as 400GBASE-CR8 of the Ethernet
// Technology Consortium, ck and df (100 Gb/s a lane, to 800 Gb/s) 2 m, dj (200 Gb/s a lane) 1 m. sr: 100 m of OM4 (bm,
// cd, cm, db, df). dr: 500 m, fr: 2 km, lr: 10 km of single-mode fibre.
Length reach(CableMedium medium, BitRate rate);

}  // namespace railyard::spec
