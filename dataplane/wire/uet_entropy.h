// The entropy header of Ultra Ethernet packets without UDP, UE-Spec 1.0 §3.5.10.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+-------------------------------+
//  |            Entropy            |           Reserved            |
//  +-------------------------------+-------------------------------+
// With UDP the source port carries the value (kUetPort).
struct UetEntropy {
  static constexpr std::size_t kOctets = 4;
  using Entropy = Field<0, 16>;
  using Reserved = Field<16, 16>;
};
static_assert(tiles<UetEntropy::kOctets, UetEntropy::Entropy, UetEntropy::Reserved>());

}  // namespace railyard::wire
