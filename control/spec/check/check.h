// What can only be checked when all parts of a lab are there. Each function throws SpecError at what is wrong.
#pragma once

#include "control/spec/draft.h"

namespace railyard::spec {

// Profiles that are named exist.
void check_profiles(const Draft& draft);

// Links connect ports that exist, each once; every NIC has one; VLANs are those of ports that are linked; and signals
// take some time, without which the engine cannot advance.
void check_links(const Draft& draft);

// No two ports or switches have the same address, as far as somebody said them.
void check_addresses(const Draft& draft);

// What is attached fits the clock and nothing is attached twice.
void check_attachments(const Draft& draft);

// Trunks lead from a switch to another daemon, under the wall clock, each over an address of its own.
void check_trunks(const Draft& draft);
void check_sites(const Draft& draft);

// Traffic has senders and receivers, can reach them, fits, and ends.
void check_traffic(const Draft& draft);

// Collectives have ranks, each once, that reach each other; what is to be divided can be; and real data fit in memory.
void check_collectives(const Draft& draft);

// In-band telemetry is about traffic that exists.
void check_int(const Draft& draft);
// The same for what `said` says.
void check_int(const Lab& lab, const IntSpec& what, const Tree& said);

// Probes have pairs, and a round is over before the next one.
void check_probe(const Draft& draft);

// Switches have the coordinates that the order of paths needs. Routing does not keep a run that is to end from ending.
void check_routing(const Draft& draft);

// Faults have names of their own, are where something like it can be, and do not keep a run that is to end from ending.
void check_faults(const Draft& draft);
// The same for one fault, said by `said`, in `lab`.
void check_fault(const Lab& lab, const FaultSpec& fault, const Tree& said);

}  // namespace railyard::spec
