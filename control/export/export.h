// A lab for other programs. A format is a line in formats() and a file here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "control/spec/spec.h"

namespace railyard::exporting {

struct Format {
  std::string_view name;
  std::string_view help;
  std::string (*write)(const spec::Lab& lab);
};
std::span<const Format> formats();

// Graphviz's language: an undirected graph, switches as boxes, hosts as ellipses, links with their rates and ports.
std::string graphviz(const spec::Lab& lab);

// A topology file of containerlab: nodes and links. Port n is interface eth<n>. Switches and hosts are nodes of the kinds
// `switch` and `host` of the section `groups`, where the user says which container they run.
std::string containerlab(const spec::Lab& lab);

// CSV, a line per NIC and per loopback: node, port, its peer, MAC, IPv4, IPv6, rate, MTU.
std::string address_plan(const spec::Lab& lab);

// The configuration of FRR of each switch that has `control: frr`, or of all switches if none has; a line "! NAME" before
// each.
std::string frr(const spec::Lab& lab);

}  // namespace railyard::exporting
