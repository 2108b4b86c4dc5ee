// The parts of a random lab (random_lab.h). Each is good by itself, and among the others of that lab.
#pragma once

#include <string>

#include "control/spec/spec.h"
#include "tests/control/spec/chance.h"

namespace railyard::spec {

// Profiles.
QosProfile random_qos(Chance& chance);
SwitchProfile random_switch(Chance& chance);
HostProfile random_host(Chance& chance);

// Switches in a row, hosts at any of them; h1..h4 have built-in traffic at port 1. `lab` has its profiles and its clock.
void add_nodes_and_links(Chance& chance, Lab& lab);
// PFC and thresholds of classes, hosts and ports.
void draw_pfc(Chance& chance, Lab& lab);

// Between h1..h4.
TrafficSpec random_traffic(Chance& chance, const std::string& name);
CollectiveSpec random_collective(Chance& chance, const std::string& name);

}  // namespace railyard::spec
