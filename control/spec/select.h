// Selectors of traffic: which NICs "h1", "h*" and "h3:2" are.
#pragma once

#include <string_view>
#include <vector>

#include "control/spec/spec.h"

namespace railyard::spec {

// Whether `name` fits `pattern`, in which '*' is any text and '?' any one character.
bool matches(std::string_view pattern, std::string_view name) noexcept;

// The NICs that can be ranks of a collective, in the same order: built in, or of a host with an agent.
std::vector<PortName> rank_nics(const Lab& lab, const std::vector<std::string>& selectors);

// The NICs that send and those that receive, in the order of the selectors, then of the nodes, then of the NICs; each
// once. Attached NICs never send, and receive only where their host is named without '*' and '?'; but those of hosts
// with an agent do both, where takes_agents().
std::vector<PortName> senders(const Lab& lab, const TrafficSpec& traffic);
std::vector<PortName> receivers(const Lab& lab, const TrafficSpec& traffic);
// Whether agents may be ends of such flows: messages over RoCE.
bool takes_agents(const TrafficSpec& traffic) noexcept;

}  // namespace railyard::spec
