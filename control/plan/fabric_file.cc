#include "control/plan/fabric_file.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "control/plan/arithmetic.h"
#include "control/plan/job.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

struct ScaleUp {
  std::string_view gpu;
  const char* rate;
};
// Of one GPU, one direction: topologies/servers/; V100: NVLink 2, 300 GB/s in both directions together; MI250X:
// Infinity Fabric, eight links of 100 GB/s in both directions together.
constexpr std::array kScaleUp{ScaleUp{"v100", "1200Gbps"},  ScaleUp{"a100", "2400Gbps"}, ScaleUp{"h100", "3600Gbps"},
                              ScaleUp{"h200", "3600Gbps"},  ScaleUp{"b200", "7200Gbps"}, ScaleUp{"mi250x", "3200Gbps"},
                              ScaleUp{"mi300x", "3584Gbps"}};

std::string link_text(const char* name, const CableRow& row) {
  return fmt::format("  {}: {{ rate: {}, cable: {}, medium: {} }}\n", name, spec::format(row.rate),
                     spec::format(row.length), spec::name(row.medium));
}

const char* name_of(spec::PcieSlot slot, std::string& text) {
  text = fmt::format("gen{}x{}", slot.generation, slot.lanes);
  return text.c_str();
}

// What packets can take at most (control/build/packet_memory.h), with half as much again.
std::int64_t packet_memory(const SwitchChoice& chosen, const Shape& s) {
  constexpr std::int64_t kPacket = 512, kFrame = 4096, kOfNic = 64;
  return (s.now.switches() * (chosen.profile.buffer.n / kFrame) + s.nic_ports(s.now) * kOfNic * 4) * kPacket * 3 / 2;
}

// Class 3 first, which messages use by default; 6 is that of CNPs.
std::string qos_text(int lossless) {
  constexpr std::array kOrder{3, 4, 2, 1, 5, 0, 7};
  std::string out = "qos:\n  default:\n    classes:\n";
  if (lossless == 0) out += "      3: { ecn: auto }\n";
  for (int i = 0; i < lossless; ++i)
    out += fmt::format("      {}: {{ lossless: true, alpha: 1/8, ecn: auto }}\n", kOrder[static_cast<std::size_t>(i)]);
  return out + "      6: { strict: true }\n";
}

// Within rails each NIC to another one; of few NICs also each GPU to each other one, which crosses rails.
std::string traffic_text(int hosts, std::int64_t nics, int ranks) {
  constexpr std::int64_t kFew = 256;
  std::string out;
  if (hosts > 1)
    out +=
        "\ntraffic:\n  - { name: permutation, pattern: permutation, from: \"h*\", to: \"h*\", transport: roce, bytes: "
        "256KiB }\n";
  if (nics <= kFew && ranks > 1)
    out += fmt::format("\ncollectives:\n  - {{ name: exchange, collective: all-to-all, size: {}KiB, start: 50us }}\n",
                       8 * ranks);
  return out;
}

std::string commented(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    out += "# " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

}  // namespace

bool has_host_for_each_nic(const Shape& s) noexcept {
  return s.tiers == 3 && s.rails_per_leaf == s.nics_per_node && s.nics_per_node > 1;
}

int hosts_in_topology(const Shape& s, const Level& l) noexcept {
  if (s.tiers < 3) return l.nodes;
  const int groups = l.pods == 1 ? l.groups : l.pods * s.groups_per_pod;
  return groups * s.nodes_per_group * (has_host_for_each_nic(s) ? s.nics_per_node : 1);
}

std::string topology_text(const Shape& s, const Level& l, const std::vector<CableRow>& cables) {
  std::string out = "topology:\n";
  if (s.tiers == 3) {
    const int leaves = l.pods == 1 ? l.leaves : s.leaves_per_pod();
    const bool each = has_host_for_each_nic(s);
    out += fmt::format("  preset: multi-pod\n  pods: {}\n  leaves-per-pod: {}\n  hosts-per-leaf: {}\n", l.pods, leaves,
                       s.nodes_per_group * (each ? s.nics_per_node : 1));
    if (!each && s.nics_per_node > 1) out += fmt::format("  rails: {}\n", s.nics_per_node);
    out += fmt::format("  spines-per-pod: {}\n  super-spines: {}\n  planes: true\n", s.spines,
                       s.spines * s.cores_per_plane);
    if (s.uplinks_per_spine > 1) out += fmt::format("  uplinks-per-spine: {}\n", s.uplinks_per_spine);
    if (s.links_per_core > 1) out += fmt::format("  uplinks-per-super-spine: {}\n", s.links_per_core);
    return out + link_text("host-link", cables[0]) + link_text("fabric-link", cables[1]) +
           link_text("super-link", cables[2]);
  }
  out += fmt::format("  preset: rail-optimized\n  hosts: {}\n  rails: {}\n  hosts-per-group: {}\n", l.nodes,
                     s.nics_per_node, s.nodes_per_group);
  if (s.rails_per_leaf > 1)
    out += fmt::format("  rails-per-switch: {}\n  rail-vlans: false\n",
                       s.rails_per_leaf == s.nics_per_node ? "all" : std::to_string(s.rails_per_leaf));
  out += fmt::format("  spines: {}\n", s.spines);
  if (s.uplinks_per_spine > 1) out += fmt::format("  uplinks-per-spine: {}\n", s.uplinks_per_spine);
  out += link_text("host-link", cables[0]);
  if (s.tiers == 2) out += link_text("fabric-link", cables[1]);
  return out;
}

std::string switches_text(const Request& r, const SwitchChoice& chosen, const Shape& s) {
  const bool one_rate = s.nic_rate == s.port_rate;
  if (chosen.is_asic && one_rate) return fmt::format("switches: {{ default: {{ asic: {} }} }}\n", chosen.asic);
  std::string ports;
  if (one_rate) ports = fmt::format("ports: {}, port-rate: {}, ", chosen.radix, spec::format(chosen.port_rate));
  std::string pool;
  if (chosen.profile.headroom_pool > Bytes{} && r.lossless_classes > 0)
    pool = fmt::format(", headroom-pool: {}", spec::format(chosen.profile.headroom_pool));
  return fmt::format(
      "# The buffer is that of {}, whose capacity is nearest.\n"
      "switches: {{ default: {{ {}buffer: {}, cell: {}{} }} }}\n",
      chosen.asic, ports, spec::format(chosen.profile.buffer), spec::format(chosen.profile.cell), pool);
}

std::string hosts_text(const Request& r, bool host_for_each_nic) {
  std::string slot;
  const int gpus = host_for_each_nic ? r.gpus_per_node / r.nics() : r.gpus_per_node;
  std::string keys;
  // GPUs with several NICs each are ranks by NIC.
  if (gpus >= 1 && r.nics() <= r.gpus_per_node && r.gpus_per_node > 1) keys += fmt::format("gpus: {}, ", gpus);
  if (r.gpus_per_node > 1) {
    const char* rate = std::ranges::find(kScaleUp, r.gpu, &ScaleUp::gpu)->rate;
    keys += fmt::format("scale-up: {{ rate: {}, latency: 500ns{} }}, ", rate,
                        host_for_each_nic ? fmt::format(", hosts: {}", r.nics()) : "");
  }
  if (r.lossless_classes == 0) keys += "roce: { loss-recovery: selective-repeat }, ";
  return fmt::format("hosts: {{ default: {{ {}pcie: {} }} }}\n", keys, name_of(r.pcie(), slot));
}

std::string fabric_file(const Request& r, const SwitchChoice& chosen, const Shape& s,
                        const std::vector<CableRow>& cables, int reduction, const std::string& command) {
  const int hosts = hosts_in_topology(s, s.now);
  const bool each = has_host_for_each_nic(s);
  std::string out = fmt::format("# Written by: {}\n#\n", command);
  if (reduction > 1)
    out += fmt::format("# Reduced {} times: {} of {}, in the shape of the plan.\n", reduction,
                       report::count_text(static_cast<std::uint64_t>(s.now.nodes)), counted(r.nodes(), "node", "nodes"));
  out += fmt::format("#   {} of {} and {}; {}\n", counted(s.now.nodes, "node", "nodes"),
                     counted(r.gpus_per_node, "GPU", "GPUs"), counted(r.nics(), "NIC", "NICs"), counted_switches(s.now));
  if (s.tiers > 1)
    out += fmt::format("#   leaf   {} ports of {} to nodes, {} of {} to spines ({} to each): {}\n", s.down,
                       report::rate_text(static_cast<double>(s.port_rate.bps)), s.up,
                       report::rate_text(static_cast<double>(s.port_rate.bps)), s.uplinks_per_spine,
                       ratio_text(s.leaf_oversubscription()));
  if (each)
    out += fmt::format("# Each NIC is a host here; {} neighbouring hosts are a node and share a scale-up network.\n",
                       r.nics());
  if (s.tiers == 3 && hosts > s.now.nodes * (each ? s.nics_per_node : 1))
    out += fmt::format("# All pods are complete here: {} hosts.\n", hosts);
  out += fmt::format("#\n# Try: railyard check FILE, railyard run FILE, railyard up FILE\n");
  out += fmt::format("name: plan-{}\ndescription: \"{} for {}, planned\"\n\n", s.now.nodes * r.gpus_per_node,
                     counted(s.now.nodes * r.gpus_per_node, "GPU", "GPUs"), needs(r.workload).name);
  out += topology_text(s, s.now, cables) + "\n" + switches_text(r, chosen, s) + hosts_text(r, each);
  if (r.lossless_classes != 1) out += qos_text(r.lossless_classes);
  out += traffic_text(hosts, s.nic_ports(s.now), hosts * std::max(r.gpus_per_node / (each ? r.nics() : 1), 1));
  constexpr std::int64_t kUsual = 1'000'000'000;
  if (const std::int64_t memory = packet_memory(chosen, s); memory > kUsual)
    out += fmt::format("\nrun: {{ memory: {}GB }}\n", memory / kUsual + 1);
  if (s.now.nodes > 1 || r.workload != Workload::kInferenceRag) {
    const PlannedJob job =
        planned_job(r, s.now.nodes, hosts == s.now.nodes ? 0 : s.now.nodes * (each ? s.nics_per_node : 1));
    out += fmt::format("\n# For `railyard estimate`, instead of the traffic ({}):\n{}", job.description,
                       commented(job.yaml));
  }
  return out;
}

}  // namespace railyard::plan
