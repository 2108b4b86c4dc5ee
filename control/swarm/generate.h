// The parts of a generated lab (generated_lab.h), one file each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "control/spec/spec.h"
#include "control/swarm/generated_lab.h"
#include "dataplane/base/rng.h"
#include "dataplane/base/time.h"

namespace railyard::swarm {

// `topology:`, or `nodes:` and `links:`; with the profiles "default" and "other" of switches, "default" and "slow" of
// hosts. `llr`: links retry.
std::string random_topology(Seed seed, bool llr);
// Whether its lossless classes change on the way, for which the QoS profiles need classes that nobody has set.
bool changes_classes(Seed seed);
// `switches:` and `hosts:`; the buffers have `buffer_mib`, but those of some that are ASICs (topologies/profiles/) as
// they are, which need not fit the fabric. `pcie`: random_pcie(), or nothing.
std::string random_profiles(Seed seed, int buffer_mib, bool with_asics, const std::string& pcie);
// Of hosts with several NICs, with links of so many Gb/s: a slot for each, and an uplink that some share. In some labs nothing.
std::string random_pcie(Seed seed, std::int64_t gbps);
// `qos:` with the profiles "default" and "other", which agree on what is lossless.
std::string random_qos(Seed seed);
// `lab` is the fabric alone.
std::vector<GeneratedLab::Item> random_traffic(Seed seed, const spec::Lab& lab);
// `lab` has its traffic, and a duration.
std::vector<GeneratedLab::Item> random_faults(Seed seed, const spec::Lab& lab);
// The same over RoCEv2 and UET: messages, and collectives; in some labs none. `roce:` and `uet:` of a profile of hosts.
std::vector<GeneratedLab::Item> random_messages(Seed seed, const spec::Lab& lab);
std::vector<GeneratedLab::Item> random_collectives(Seed seed, const spec::Lab& lab);
std::string random_endpoints(Seed seed);
// Of the links of hosts, in Gb/s.
std::int64_t gbps_of_hosts(const spec::Lab& lab);
// How long `lab` with its traffic takes for some `hops` packet-hops; a guess.
Duration duration_for(const spec::Lab& lab, double hops);

}  // namespace railyard::swarm
