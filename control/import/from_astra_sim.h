// The network and system descriptions of ASTRA-sim as a fabric file.
//
// Source: ASTRA-sim 2 (astra-sim/astra-sim), inputs/network/analytical/*.yml and inputs/system/*.json; the keys of its
// analytical network backend.
#pragma once

#include <optional>
#include <string>

namespace railyard::importing {

// Whether `text` is a network description (`topology` and `npus_count`); a system description
// (`all-reduce-implementation` or its like).
bool is_astra_network(const std::string& text);
bool is_astra_system(const std::string& text);

struct AstraSimInput {
  std::string network;  // text, and the file for messages
  std::string network_file;
  std::optional<std::string> system;
  std::string system_file;
  std::string trace;  // a workload, named in the fabric file as it is; empty: an all-reduce of 64 MiB
};

// One dimension becomes a fabric of hosts with one NIC: Switch one switch, Ring and FullyConnected switches that are
// linked so. Of two dimensions the first is the scale-up network of each host, and the second connects hosts, each NPU
// by a NIC of its own at a switch of its rail. Comments say what is not the same and what is left out. Throws
// SpecError, with file and line, for what is no such description, dimensions that do not fit together, and more than
// two of them.
std::string from_astra_sim(const AstraSimInput& input);

}  // namespace railyard::importing
