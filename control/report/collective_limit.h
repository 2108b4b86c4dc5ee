// What a collective could reach if nothing but the links' rates held it up.
#pragma once

#include <functional>
#include <vector>

#include "control/spec/spec.h"
#include "transports/base/rank_program.h"

namespace railyard::report {

// One rank of a collective: its program, and where that puts its octets.
struct RankOnLinks {
  const RankProgram* program = nullptr;
  spec::PortName nic{};                  // its own
  std::vector<spec::PortName> through{}; // by connection: the NIC that it goes through; empty: all through `nic`
};

// The one definition of a collective's limit, of busbw, bit/s. Each direction of a NIC needs the time of the octets that
// the plan puts there, at the rate that framing leaves; so does each rank's part of a scale-up network, without framing.
// At the limit the slowest of these has no time left. `octets`: that busbw counts in a repeat; `framing`: payload of what
// a NIC sends, 0..1; `rate_of`: of a NIC's link. 0: no rank sends anything.
double busbw_limit(const spec::Lab& lab, const std::function<BitRate(const spec::PortName&)>& rate_of, const std::vector<RankOnLinks>& ranks, double octets, double framing);

}  // namespace railyard::report
