// A lab for other programs. A format is a line in formats() and a file here.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "control/spec/spec.h"

namespace railyard::exporting {

// What formats of a single host take beside the lab.
struct Options {
  std::string node;  // the host or switch; empty: the first, or all
  int gpus = 0;      // GPUs in it, spread evenly over its NICs; 0: as its profile says, else one per NIC
};

struct Format {
  std::string_view name;
  std::string_view help;
  std::string (*write)(const spec::Lab& lab, const Options& options);
  bool by_node = false;  // takes Options::node
  bool by_gpus = false;  // takes Options::gpus
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

// A topology as NCCL reads it from NCCL_TOPO_FILE (XML), of one host: GPUs and NICs that belong together are behind one
// PCIe switch: by `gpus` and `gpu-nics` of the host's profile. What the lab does not say is as plain as can be: one CPU, PCIe as fast as the ports, GPUs of compute
// capability 9.0, NVLinks of 25 GB/s by the rate of the host's scale-up network. Throws InputError where there is no such
// host, and where GPUs of Options and NICs are no multiples of each other.
std::string nccl_topology(const spec::Lab& lab, const Options& options);

// NCCL_IB_HCA of each host, a line each after its name; or of one host, the assignment alone.
std::string nccl_hca(const spec::Lab& lab, const Options& options);

// SONiC's config_db.json of one switch (Options::node; empty: the first): ports, cables, neighbours, classes, buffers, WRED,
// schedulers, PFC and its watchdog. `railyard import` makes a fabric of one switch of it whose ports and classes are the
// same. Throws InputError for no such switch, and for what SONiC cannot be told.
std::string sonic(const spec::Lab& lab, const Options& options);

}  // namespace railyard::exporting
