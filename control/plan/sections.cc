// A plan as text: the arithmetic behind each figure.
#include <algorithm>

#include <fmt/format.h>

#include "control/plan/plan.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

std::string rate(BitRate r) { return report::rate_text(static_cast<double>(r.bps)); }
std::string rate(double bps) { return report::rate_text(bps); }
std::string octets(std::uint64_t n) { return report::size_text(n); }
std::string octets(Bytes b) {
  return (b.n < 0 ? "-" : "") + report::size_text(static_cast<std::uint64_t>(b.n < 0 ? -b.n : b.n));
}
std::string count(std::int64_t n) { return report::count_text(static_cast<std::uint64_t>(n)); }

std::string watts(double w) {
  constexpr double kThousand = 1000;
  return w < kThousand ? number(w) + " W" : count(static_cast<std::int64_t>(w)) + " W";
}

Section memory_section(const Plan& p) {
  const Request& r = p.request;
  const std::uint64_t memory = gpu_memory(r.gpu);
  Section s{.title = fmt::format("GPUs that a model needs ({}, {})", needs(r.workload).name, r.gpu), .lines = {}};
  const double usable = kUsableMemory * static_cast<double>(memory);
  s.lines.push_back({"usable memory of a GPU", fmt::format("{} x {}", octets(memory), kUsableMemory),
                     octets(static_cast<std::uint64_t>(usable)), "data sheet; a tenth left free: our choice"});
  for (const MemoryNeed& m : p.memory) {
    const bool serves = r.workload == Workload::kInferenceRag;
    s.lines.push_back(
        {m.model,
         serves ? fmt::format("{} weights + {} KV cache", octets(m.weights), octets(m.activations))
                : fmt::format("{} weights + {} gradients + {} optimizer + {} activations", octets(m.weights),
                              octets(m.gradients), octets(m.optimizer), octets(m.activations)),
         octets(m.total()),
         serves ? "2 bytes per parameter; KV of 32 sequences" : "ZeRO, SC '20; Korthikanti et al., MLSys '23"});
    s.lines.push_back(
        {"", fmt::format("{} / {}, rounded up", octets(m.total()), octets(static_cast<std::uint64_t>(usable))),
         fmt::format("{} ({})", counted(m.gpus, "GPU", "GPUs"), counted(m.nodes, "node", "nodes")), ""});
  }
  const MemoryNeed mine = memory_need(r.model, r.workload, memory, r.gpus_per_node);
  if (mine.gpus > r.gpus)
    s.notes.push_back(fmt::format("{} GPUs do not hold {}, which needs {}: recompute, offload, or buy more.",
                                  count(r.gpus), r.model.name, count(mine.gpus)));
  return s;
}

Section nic_section(const Plan& p) {
  const Request& r = p.request;
  Section s{.title = "NICs and PCI Express", .lines = {}};
  s.lines.push_back({"nodes", fmt::format("{} GPUs / {}", count(r.gpus), r.gpus_per_node), count(r.nodes()), ""});
  s.lines.push_back({"NIC ports", fmt::format("{} nodes x {}", count(r.nodes()), r.nics()),
                     count(p.shape.nic_ports(p.shape.now)), r.nics_per_node ? "" : "one for each GPU: DGX H100"});
  const double all = static_cast<double>(p.shape.nic_ports(p.shape.now)) * static_cast<double>(r.nic_rate.bps);
  s.lines.push_back({"capacity of all NICs",
                     fmt::format("{} x {}", count(p.shape.nic_ports(p.shape.now)), rate(r.nic_rate)), rate(all), ""});
  const int gigatransfers = 8 << (r.pcie.generation - 3);
  const char* coding = r.pcie.generation >= 6 ? "236/256" : "128/130";
  s.lines.push_back({"slot of a NIC", fmt::format("{} GT/s x {} lanes x {}", gigatransfers, r.pcie.lanes, coding),
                     rate(p.nic.slot), r.pcie.generation >= 6 ? "PCIe 6.0, 4.2.3" : "PCIe 5.0, 4.2"});
  s.lines.push_back({"PCI Express check", "",
                     p.nic.held_up ? fmt::format("{} > {}: too slow, the NIC gets {}", rate(r.nic_rate),
                                                 rate(p.nic.slot), rate(p.nic.usable))
                                   : fmt::format("{} <= {}: fits", rate(r.nic_rate), rate(p.nic.slot)),
                     ""});
  s.lines.push_back({"for each GPU",
                     fmt::format("{} NICs x {} / {} GPUs", r.nics(), rate(p.nic.usable), r.gpus_per_node),
                     rate(p.nic.for_gpu), ""});
  if (p.nic.held_up)
    s.notes.push_back("Headers of PCI Express cost a few percent more. Use a faster slot, or NICs of a lower rate.");
  return s;
}

void add_leaves(const Plan& p, Section& s) {
  const Request& r = p.request;
  const Shape& f = p.shape;
  const std::string reason =
      r.oversubscription ? "as requested" : std::string(needs(r.workload).oversubscription_source);
  s.lines.push_back({"oversubscription of leaves", "", ratio_text(r.used_oversubscription().value()), reason});
  if (f.rails_per_leaf == r.nics())
    s.lines.push_back({"nodes at a leaf", fmt::format("all {} NICs of a node at one leaf", r.nics()),
                       counted(f.nodes_per_group, "node", "nodes"), ""});
  else
    s.lines.push_back(
        {"nodes in a group",
         fmt::format("{} of {} rails at a leaf, {} leaves for a group", f.rails_per_leaf, r.nics(), f.leaves_per_group),
         counted(f.nodes_per_group, "node", "nodes"), "rail r: NIC r of every node"});
  s.lines.push_back(
      {"ports of a leaf to nodes",
       f.split > 1 ? fmt::format("{} nodes x {} / {} NICs at a port", f.nodes_per_group, f.rails_per_leaf, f.split)
                   : fmt::format("{} nodes x {}", f.nodes_per_group, f.rails_per_leaf),
       fmt::format("{} of {}", f.down, f.radix), ""});
  if (f.tiers > 1)
    s.lines.push_back(
        {"ports of a leaf to spines",
         fmt::format("{} x {} / ({} x {}), rounded up to {} spines", f.nodes_per_group * f.rails_per_leaf,
                     rate(f.nic_rate), number(r.used_oversubscription().value()), rate(f.port_rate), f.spines),
         std::to_string(f.up), ""});
  s.lines.push_back(
      {"leaves",
       fmt::format("{} nodes / {} x {}, rounded up", count(f.now.nodes), f.nodes_per_group, f.leaves_per_group),
       count(f.now.leaves), ""});
}

void add_spines(const Plan& p, Section& s) {
  const Shape& f = p.shape;
  if (f.tiers == 2) {
    const std::string later = f.later.leaves > f.now.leaves ? fmt::format(" ({} leaves of later)", f.later.leaves) : "";
    s.lines.push_back({"spines, at least", fmt::format("{} leaves x {} / {} ports", f.later.leaves, f.up, f.radix),
                       std::to_string((f.leaf_links(f.later) + f.radix - 1) / f.radix) + later, ""});
    s.lines.push_back({"spines",
                       fmt::format("at least {}, and a divisor of {} uplinks",
                                   std::min(p.request.spines_at_least, f.later.leaves), f.up),
                       std::to_string(f.spines), "one that fails costs 1/spines: our choice"});
    s.lines.push_back({"uplinks from each leaf to each spine", fmt::format("{} / {}", f.up, f.spines),
                       std::to_string(f.uplinks_per_spine), ""});
    return;
  }
  s.lines.push_back({"pods", fmt::format("{} leaves / {} in a pod", f.now.leaves, f.leaves_per_pod()),
                     std::to_string(f.now.pods), "Al-Fares et al., SIGCOMM '08"});
  s.lines.push_back(
      {"spines", fmt::format("{} x {}, one for each uplink of a leaf", counted(f.now.pods, "pod", "pods"), f.spines),
       count(f.now.spines), ""});
  s.lines.push_back({"ports of a spine", fmt::format("{} leaves down + {} up", f.leaves_per_pod(), f.spine_up),
                     fmt::format("{} of {}", f.leaves_per_pod() + f.spine_up, f.radix), ""});
  s.lines.push_back({"cores",
                     fmt::format("{} planes x {} (each spine has {} links to each core of its plane)", f.spines,
                                 f.cores_per_plane, f.links_per_core),
                     count(f.now.cores), ""});
}

void add_check(const Plan& p, Section& s) {
  const Shape& f = p.shape;
  const double down = static_cast<double>(f.nic_ports(f.now)) * static_cast<double>(f.nic_rate.bps);
  s.lines.push_back({"tiers", "", std::to_string(f.tiers), ""});
  s.lines.push_back({"stages", fmt::format("2 x {} - 1", f.tiers), std::to_string(f.stages()), ""});
  s.lines.push_back({"switches", counted_switches(f.now, " + "), count(f.now.switches()), ""});
  s.lines.push_back(
      {"capacity to nodes", fmt::format("{} ports x {}", count(f.nic_ports(f.now)), rate(f.nic_rate)), rate(down), ""});
  if (f.tiers == 1) {
    s.notes.push_back("One switch: it is non-blocking by itself, and a single point of failure.");
    return;
  }
  const double up = static_cast<double>(f.leaf_links(f.now)) * static_cast<double>(f.port_rate.bps);
  s.lines.push_back({"capacity to spines",
                     fmt::format("{} leaves x {} x {}", count(f.now.leaves), f.up, rate(f.port_rate)), rate(up), ""});
  const double core = f.tiers == 3 ? f.core_oversubscription() : 1;
  const bool blocks = f.leaf_oversubscription() > 1 || core > 1;
  std::string how =
      fmt::format("{} down / {} up of a full leaf",
                  rate(static_cast<double>(f.nodes_per_group * f.rails_per_leaf) * static_cast<double>(f.nic_rate.bps)),
                  rate(static_cast<double>(f.up) * static_cast<double>(f.port_rate.bps)));
  if (f.tiers == 3) how += fmt::format(", {} of spines", ratio_text(core));
  s.lines.push_back(
      {"non-blocking check", how,
       fmt::format("{}, {}", ratio_text(f.leaf_oversubscription()), blocks ? "oversubscribed" : "non-blocking"), ""});
}

Section fabric_section(const Plan& p) {
  Section s{.title = fmt::format("Fabric: {}", name(p.shape.design)), .lines = {}};
  s.lines.push_back({"switch", fmt::format("{} ports x {}", p.chosen.radix, rate(p.chosen.port_rate)),
                     rate(p.chosen.capacity()), p.chosen.is_asic ? p.chosen.asic : "as requested"});
  add_leaves(p, s);
  if (p.shape.tiers > 1) add_spines(p, s);
  add_check(p, s);
  for (const WorkloadNeeds& w : workloads())
    s.lines.push_back({fmt::format("recommended for {}", w.name), "", ratio_text(w.oversubscription.value()),
                       std::string(w.oversubscription_source)});
  return s;
}

Section cable_section(const Plan& p) {
  Section s{.title = "Cables", .lines = {}};
  for (const CableRow& c : p.cables) {
    const bool pair = c.is_optical_pair();
    const Shape& f = p.shape;
    const std::string formula =
        c.between == "node - leaf"    ? fmt::format("{} nodes x {}", count(f.now.nodes), f.nics_per_node)
        : c.between == "leaf - spine" ? fmt::format("{} leaves x {}", count(f.now.leaves), f.up)
                                      : fmt::format("{} spines x {}", count(f.now.spines), f.spine_up);
    s.lines.push_back(
        {c.between, formula,
         fmt::format("{} {} of {}, {}{}", count(c.now),
                     pair ? "fibres" : fmt::format("{} cables", spec::name(c.medium)), rate(c.rate),
                     spec::format(c.length),
                     pair ? fmt::format(", {} {} modules", count(2 * c.now), spec::name(c.medium)) : ""),
         fmt::format(
             "{} reaches {}: {}", spec::name(c.medium), spec::format(spec::reach(c.medium, c.rate)),
             c.medium == spec::CableMedium::kAec || c.medium == spec::CableMedium::kAoc ? "products" : "IEEE 802.3")});
  }
  if (p.shape.split > 1)
    s.notes.push_back(fmt::format("One port of a leaf has {} NICs, by a splitting cable.", p.shape.split));
  return s;
}

void add_headroom(const char* what, const HeadroomOfLink& h, Bytes cell, Section& s) {
  if (h.octets.n == 0) return;
  const auto& t = h.terms;
  s.lines.push_back(
      {what,
       fmt::format(
           "{} own frame + {} PFC frame + {} cable ({} there and back) + {} response ({}) + {} pipeline ({}) + {} "
           "peer's frame",
           count(t.framing.slot(t.own_frame)), count(t.framing.slot(64)), count((t.rate * (2 * t.propagation)).n),
           spec::format(h.cable), count((t.rate * t.peer_response).n), report::time_text(t.peer_response),
           count((t.rate * t.rx_latency).n), report::time_text(t.rx_latency), count(t.framing.slot(t.peer_frame))),
       count(h.octets.n) + " B", "IEEE 802.1Q annex N"});
  s.lines.push_back({"",
                     fmt::format("{} cells x {} B, for frames of the worst size", count(h.buffer.n / cell.n), cell.n),
                     octets(h.buffer), ""});
}

Section buffer_section(const Plan& p) {
  const Request& r = p.request;
  Section s{.title = fmt::format("Buffer and PFC headroom ({})",
                                 counted(r.lossless_classes, "lossless class", "lossless classes")),
            .lines = {}};
  add_headroom("port to a node", p.buffers.node, p.chosen.profile.cell, s);
  add_headroom("port between leaf and spine", p.buffers.fabric, p.chosen.profile.cell, s);
  add_headroom("port between spine and core", p.buffers.core, p.chosen.profile.cell, s);
  s.lines.push_back({"headroom of a leaf",
                     fmt::format("{} x ({} NICs x {} + {} uplinks x {})", r.lossless_classes,
                                 p.shape.nodes_per_group * p.shape.rails_per_leaf, octets(p.buffers.node.buffer),
                                 p.shape.up, octets(p.buffers.fabric.buffer)),
                     octets(p.buffers.leaf), ""});
  if (p.shape.tiers > 1)
    s.lines.push_back(
        {"headroom of a spine", "its ports to leaves and cores in 18 months", octets(p.buffers.spine), ""});
  const Bytes buffer = p.chosen.profile.buffer;
  s.lines.push_back({"buffer left to share at a leaf", fmt::format("{} - {}", octets(buffer), octets(p.buffers.leaf)),
                     octets(p.buffers.left_leaf), p.chosen.asic});
  if (p.buffers.left_leaf.n < 0)
    s.notes.push_back(
        p.chosen.profile.headroom_pool.n > 0
            ? fmt::format("All headroom together does not fit: ports share a pool of {}, as this chip ships.",
                          octets(p.chosen.profile.headroom_pool))
            : std::string(
                  "All headroom together does not fit: use shorter cables, fewer lossless classes or a chip with "
                  "a headroom pool."));
  return s;
}

Section growth_section(const Plan& p) {
  const Shape& f = p.shape;
  Section s{.title = "Growth in 18 months, and ports", .lines = {}};
  s.lines.push_back({"GPUs", fmt::format("{} in 18 months - {} now", count(p.request.later()), count(p.request.gpus)),
                     fmt::format("{} more", count(p.request.later() - p.request.gpus)), ""});
  for (const TierPorts& t : p.ports) {
    s.lines.push_back({fmt::format("{} ports", t.tier),
                       fmt::format("{} switches x {} - {} used - {} reserved for later", count(t.switches), f.radix,
                                   count(t.used), count(t.reserved)),
                       fmt::format("{} stranded", count(t.stranded())), ""});
    if (t.switches_later > t.switches)
      s.lines.push_back({"", fmt::format("{} later - {} now", count(t.switches_later), count(t.switches)),
                         counted(t.switches_later - t.switches, "switch to add", "switches to add"), ""});
  }
  for (const CableRow& c : p.cables)
    if (c.later > c.now)
      s.lines.push_back({fmt::format("cables, {}", c.between),
                         fmt::format("{} later - {} now", count(c.later), count(c.now)),
                         fmt::format("{} to add, 0 to move", count(c.later - c.now)), ""});
  if (f.later.nodes > f.now.nodes)
    s.notes.push_back(
        f.tiers == 3
            ? "Cores have their ports for later now; spines and leaves come with their pods. So no cable moves."
        : f.tiers == 2 ? "Spines have their ports for later now. So no cable moves."
                       : "The switch has its ports for later now. So no cable moves.");
  else
    s.notes.push_back("Without --gpus-later nothing is reserved: free ports count as stranded.");
  return s;
}

Section bill_section(const Plan& p) {
  const bool grows = p.later.watts > p.now.watts;
  Section s{.title = "Power and bill of materials", .lines = {}};
  for (const BillRow& row : p.now.rows) {
    std::string result = fmt::format("{:.1f} kW", row.power() / 1000);
    if (const auto cost = row.cost()) result += fmt::format(", {}", money_text(*cost, p.prices));
    s.lines.push_back(
        {std::string(name(row.item)),
         row.price ? fmt::format("{} x {}, {}", count(row.count), watts(row.watts), money_text(*row.price, p.prices))
                   : fmt::format("{} x {}", count(row.count), watts(row.watts)),
         result, ""});
  }
  s.lines.push_back(
      {"fabric",
       fmt::format("{:.1f} kW - {:.1f} kW of servers", p.now.watts / 1000, (p.now.watts - p.now.fabric_watts) / 1000),
       fmt::format("{:.1f} kW, {} W for each GPU", p.now.fabric_watts / 1000,
                   number(p.now.fabric_watts / p.request.gpus)),
       ""});
  if (p.now.fabric_cost)
    s.lines.push_back(
        {"price of the fabric without servers", "", money_text(*p.now.fabric_cost, p.prices), "your prices file"});
  if (grows) {
    s.lines.push_back({"fabric in 18 months", "", fmt::format("{:.1f} kW", p.later.fabric_watts / 1000), ""});
    if (p.later.fabric_cost)
      s.lines.push_back({"the same in 18 months", "", money_text(*p.later.fabric_cost, p.prices), "your prices file"});
  }
  if (p.prices.energy) {
    constexpr double kHours = 24 * 365;
    s.lines.push_back({"energy of the fabric in a year",
                       fmt::format("{:.1f} kW x {} x 8,760 h x {} {}", p.now.fabric_watts / 1000, p.prices.pue,
                                   *p.prices.energy, p.prices.currency),
                       money_text(p.now.fabric_watts / 1000 * p.prices.pue * kHours * *p.prices.energy, p.prices), ""});
  }
  if (!p.prices.any()) s.notes.push_back("No prices: give yours with --prices FILE.");
  if (!p.now.unpriced.empty())
    s.notes.push_back(fmt::format("The prices file has no price of: {}.{}", fmt::join(p.now.unpriced, ", "),
                                  p.now.fabric_cost ? "" : " So there is no total."));
  return s;
}

Section step_section(const Plan& p) {
  Section s{.title = fmt::format("From {} to {}", rate(p.request.nic_rate), rate(p.request.nic_rate * 2)), .lines = {}};
  bool all = true;
  for (const Trigger& t : p.triggers) {
    all = all && t.reached;
    s.lines.push_back(
        {t.what, t.formula, fmt::format("{}, {}", t.result, t.reached ? "reached" : "not reached"), t.threshold});
  }
  s.notes.push_back(all ? "All triggers are reached: plan the step now."
                        : fmt::format("Stay at {} until all triggers are reached.", rate(p.request.nic_rate)));
  return s;
}

Section isolation_section(const Plan& p) {
  const WorkloadNeeds& w = needs(p.request.workload);
  Section s{.title = "Shared or separate", .lines = {}};
  s.lines.push_back({"advice", "", std::string(name(w.isolation)), ""});
  s.notes.push_back(fmt::format("Because {}.", w.isolation_reason));
  s.notes.push_back(
      "QoS classes share links and buffers; VLAN and VRF share links; separate fabrics share only the node.");
  return s;
}

}  // namespace

std::vector<Section> sections(const Plan& p) {
  return {memory_section(p), nic_section(p),  fabric_section(p), cable_section(p),    buffer_section(p),
          growth_section(p), bill_section(p), step_section(p),   isolation_section(p)};
}

}  // namespace railyard::plan
