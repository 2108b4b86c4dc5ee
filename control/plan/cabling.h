// Cables: how many of which kind and length.
#pragma once

#include <string>
#include <vector>

#include "control/plan/sizing.h"
#include "control/spec/cable_medium.h"

namespace railyard::plan {

struct CableRow {
  std::string between;  // "node - leaf"
  Length length{};
  BitRate rate{};  // of the link
  spec::CableMedium medium{};
  std::int64_t now = 0;  // links
  std::int64_t later = 0;

  // Two modules and a fibre, instead of one cable with fixed ends.
  bool is_optical_pair() const noexcept;
};

// The cheapest kind that reaches so far at this rate: passive copper, active copper, active optical cable (to 30 m, our
// choice: beyond, fibre is laid once and modules are changed), modules for multi-mode, single-mode of 500 m, 2 km, 10
// km. Nothing reaches: nothing.
std::optional<spec::CableMedium> medium_for(Length length, BitRate rate);

// Node to leaf, leaf to spine, spine to core. Throws spec::SpecError: no cable reaches so far.
std::vector<CableRow> cables(const Request& request, const Shape& shape);

}  // namespace railyard::plan
