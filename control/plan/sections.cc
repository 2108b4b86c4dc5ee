// A plan as text: the arithmetic behind each figure.
#include <algorithm>

#include <fmt/format.h>

#include "control/plan/communication.h"
#include "control/plan/plan.h"
#include "control/plan/sections.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::plan {
namespace {

std::string rate(BitRate r) { return rate_words(static_cast<double>(r.bps)); }
std::string rate(double bps) { return rate_words(bps); }
std::string octets(std::uint64_t n) { return report::size_text(n); }
std::string count(std::int64_t n) { return report::count_text(static_cast<std::uint64_t>(n)); }

std::string seconds(double t) { return report::nanoseconds_text(static_cast<std::uint64_t>(t * 1e9)); }

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
    const bool whole = m.gpus > r.gpus_per_node;
    s.lines.push_back({"",
                       fmt::format("{} / {}, rounded up to {}", octets(m.total()), octets(static_cast<std::uint64_t>(usable)),
                                   whole ? fmt::format("whole nodes of {}", r.gpus_per_node) : std::string("whole GPUs")),
                       fmt::format("{} ({})", counted(m.gpus, "GPU", "GPUs"), counted(m.nodes, "node", "nodes")), ""});
  }
  const MemoryNeed mine = memory_need(r.model, r.workload, memory, r.gpus_per_node);
  if (mine.gpus > r.gpus)
    s.notes.push_back(fmt::format("{} cannot hold {}, which needs {}: recompute activations, offload, or buy more GPUs.",
                                  counted(r.gpus, "GPU", "GPUs"), r.model.name, count(mine.gpus)));
  return s;
}

// "8 x 400 Gb/s".
std::string nics_text(const NicAdvice& a) { return fmt::format("{} x {}", a.nics, rate(a.rate)); }

// How many NICs of which rate, and for comparison what other workloads would get.
void add_advice(const Plan& p, Section& s) {
  const Request& r = p.request;
  const NicAdvice& mine = r.advice;
  const bool said = r.nics_per_node || r.said_nic_rate;
  s.lines.push_back({"NICs of a node",
                     r.nics_per_node ? fmt::format("{} for {}", r.nics(), counted(r.gpus_per_node, "GPU", "GPUs"))
                                     : fmt::format("{}: {}", mine.count, mine.reason),
                     fmt::format("{} x {}", r.nics(), rate(r.nic_rate())), said ? "as requested" : mine.source});
  for (const WorkloadNeeds& w : workloads()) {
    const NicAdvice a = advise_nics(r, w.workload);
    if (w.workload == r.workload && !said) continue;
    s.lines.push_back({fmt::format("  for {}", w.name), fmt::format("{}: {}", a.count, a.reason), nics_text(a), a.source});
  }
}

Section nic_section(const Plan& p) {
  const Request& r = p.request;
  Section s{.title = fmt::format("NICs and PCI Express ({}, {})", r.gpu, r.model.name), .lines = {}};
  s.lines.push_back({"nodes", fmt::format("{} / {}", counted(r.gpus, "GPU", "GPUs"), r.gpus_per_node), count(r.nodes()), ""});
  add_advice(p, s);
  s.lines.push_back({"NIC ports", fmt::format("{} x {}", counted(r.nodes(), "node", "nodes"), r.nics()),
                     count(p.shape.nic_ports(p.shape.now)), ""});
  const double all = static_cast<double>(p.shape.nic_ports(p.shape.now)) * static_cast<double>(r.nic_rate().bps);
  s.lines.push_back({"capacity of all NICs",
                     fmt::format("{} x {}", count(p.shape.nic_ports(p.shape.now)), rate(r.nic_rate())), rate(all), ""});
  const int gigatransfers = 8 << (r.pcie().generation - 3);
  const char* coding = r.pcie().generation >= 6 ? "236/256" : "128/130";
  s.lines.push_back({"slot of a NIC", fmt::format("{} GT/s x {} lanes x {}", gigatransfers, r.pcie().lanes, coding),
                     rate(p.nic.slot), r.pcie().generation >= 6 ? "PCIe 6.0, 4.2.3" : "PCIe 5.0, 4.2"});
  s.lines.push_back({"PCI Express check", "",
                     p.nic.held_up ? fmt::format("{} > {}: too slow, the NIC gets {}", rate(r.nic_rate()),
                                                 rate(p.nic.slot), rate(p.nic.usable))
                                   : fmt::format("{} <= {}: fits", rate(r.nic_rate()), rate(p.nic.slot)),
                     ""});
  s.lines.push_back({"for each GPU",
                     fmt::format("{} x {} / {}", counted(r.nics(), "NIC", "NICs"), rate(p.nic.usable),
                                 counted(r.gpus_per_node, "GPU", "GPUs")),
                     rate(p.nic.for_gpu), ""});
  const Communication c = communication(r);
  if (c.octets > 0)
    s.lines.push_back({"needed for each GPU",
                       fmt::format("{} of {} / ({} of {} + {:.0f} % of {} of computing)",
                                   octets(static_cast<std::uint64_t>(c.octets)), c.what, seconds(c.hidden), c.hidden_what,
                                   kWorthIt * 100, seconds(c.compute)),
                       rate(p.step.needed), "communication that computing does not hide: 10 % at most, our choice"});
  if (p.nic.held_up)
    s.notes.push_back("Headers of PCI Express cost a few percent more. Use a faster slot, or NICs of a lower rate.");
  if (p.nic.for_gpu < p.step.needed)
    s.notes.push_back(fmt::format("The NICs are too slow: {} for each GPU, and {} are needed.", rate(p.nic.for_gpu),
                                  rate(p.step.needed)));
  return s;
}

void add_leaves(const Plan& p, Section& s) {
  const Request& r = p.request;
  const Shape& f = p.shape;
  const std::string reason =
      r.oversubscription ? "as requested" : std::string(needs(r.workload).oversubscription_source);
  s.lines.push_back({"oversubscription of leaves", "", ratio_text(r.used_oversubscription().value()), reason});
  if (f.rails_per_leaf == r.nics())
    s.lines.push_back({"nodes at a leaf", r.nics() == 1 ? std::string("its one NIC at one leaf") : fmt::format("all {} NICs of a node at one leaf", r.nics()),
                       counted(f.nodes_per_group, "node", "nodes"), ""});
  else
    s.lines.push_back(
        {"nodes in a group",
         fmt::format("{} of {} rails at a leaf, {} leaves for a group", f.rails_per_leaf, r.nics(), f.leaves_per_group),
         counted(f.nodes_per_group, "node", "nodes"), "rail r: NIC r of every node"});
  s.lines.push_back(
      {"ports of a leaf to nodes",
       f.split > 1 ? fmt::format("{} x {} / {} NICs at a port{}", counted(f.nodes_per_group, "node", "nodes"),
                                 counted(f.rails_per_leaf, "NIC", "NICs"), f.split,
                                 f.nodes_per_group * f.rails_per_leaf % f.split == 0 ? "" : ", rounded up")
                   : fmt::format("{} x {}", counted(f.nodes_per_group, "node", "nodes"),
                                 counted(f.rails_per_leaf, "NIC", "NICs")),
       fmt::format("{} of {}", f.down, f.radix), ""});
  if (f.tiers > 1)
    s.lines.push_back(
        {"ports of a leaf to spines",
         fmt::format("{} x {} / ({} x {}), rounded up to equal parts for {}", f.nodes_per_group * f.rails_per_leaf,
                     rate(f.nic_rate), number(r.used_oversubscription().value()), rate(f.port_rate),
                     counted(f.spines, "spine", "spines")),
         std::to_string(f.up), ""});
  s.lines.push_back(
      {"leaves",
       f.now.nodes % f.nodes_per_group == 0
           ? fmt::format("{} / {} in a group x {}", counted(f.now.nodes, "node", "nodes"), f.nodes_per_group,
                         counted(f.leaves_per_group, "leaf", "leaves"))
           : fmt::format("{} ({} / {}, rounded up) x {}", counted(f.now.groups, "group", "groups"),
                         counted(f.now.nodes, "node", "nodes"), f.nodes_per_group,
                         counted(f.leaves_per_group, "leaf", "leaves")),
       count(f.now.leaves), ""});
}

void add_spines(const Plan& p, Section& s) {
  const Shape& f = p.shape;
  if (f.tiers == 2) {
    const std::int64_t links = f.leaf_links(f.later);
    s.lines.push_back({"spines that have the ports",
                       fmt::format("{}{} x {} / {} ports{}", counted(f.later.leaves, "leaf", "leaves"),
                                   f.later.leaves > f.now.leaves ? " in 18 months" : "", f.up, f.radix,
                                   links % f.radix == 0 ? "" : ", rounded up"),
                       std::to_string((links + f.radix - 1) / f.radix), ""});
    s.lines.push_back({"spines",
                       fmt::format("at least {}, and a divisor of {}", std::min(p.request.spines_at_least, f.later.leaves),
                                   counted(f.up, "uplink", "uplinks")),
                       std::to_string(f.spines),
                       f.spines == 1 ? "a single point of failure"
                                     : fmt::format("one that fails costs 1/{}: our choice", f.spines)});
    s.lines.push_back({"uplinks from each leaf to each spine", fmt::format("{} / {}", f.up, f.spines),
                       std::to_string(f.uplinks_per_spine), ""});
    return;
  }
  s.lines.push_back({"pods", fmt::format("{} / {} in a pod{}", counted(f.now.leaves, "leaf", "leaves"), f.leaves_per_pod(),
                                 f.now.leaves % f.leaves_per_pod() == 0 ? "" : ", rounded up"),
                     std::to_string(f.now.pods), "Al-Fares et al., SIGCOMM '08"});
  s.lines.push_back(
      {"spines", fmt::format("{} x {}, one for each uplink of a leaf", counted(f.now.pods, "pod", "pods"), f.spines),
       count(f.now.spines), ""});
  s.lines.push_back({"ports of a spine", fmt::format("{} down + {} up", counted(f.leaves_per_pod(), "leaf", "leaves"), f.spine_up),
                     fmt::format("{} of {}", f.leaves_per_pod() + f.spine_up, f.radix), ""});
  s.lines.push_back({"cores",
                     fmt::format("{} x {} (each spine has {} to each core of its plane)", counted(f.spines, "plane", "planes"),
                                 counted(f.cores_per_plane, "core", "cores"), counted(f.links_per_core, "link", "links")),
                     count(f.now.cores), ""});
}

void add_check(const Plan& p, Section& s) {
  const Shape& f = p.shape;
  const double down = static_cast<double>(f.nic_ports(f.now)) * static_cast<double>(f.nic_rate.bps);
  s.lines.push_back({"tiers", "", std::to_string(f.tiers), ""});
  s.lines.push_back({"stages", fmt::format("2 x {} - 1", f.tiers), std::to_string(f.stages()), ""});
  if (f.tiers > 1) s.lines.push_back({"switches", counted_switches(f.now, " + "), count(f.now.switches()), ""});
  s.lines.push_back(
      {"capacity to nodes", fmt::format("{} x {}", counted(f.nic_ports(f.now), "NIC", "NICs"), rate(f.nic_rate)), rate(down), ""});
  if (f.tiers == 1) {
    s.notes.push_back("One switch: it is non-blocking by itself, and a single point of failure.");
    return;
  }
  const double up = static_cast<double>(f.leaf_links(f.now)) * static_cast<double>(f.port_rate.bps);
  s.lines.push_back({"capacity to spines",
                     fmt::format("{} x {} x {}", counted(f.now.leaves, "leaf", "leaves"), f.up, rate(f.port_rate)), rate(up), ""});
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
  if (p.shape.design == Design::kRailOptimized && p.shape.tiers > 1 && p.request.nics() > 1 &&
      p.shape.rails_per_leaf == p.request.nics())
    s.notes.push_back(
        "All NICs of a node are at one leaf, which takes fewest switches: a leaf that fails takes its nodes with it. "
        "--rails-per-leaf 1 spreads them.");
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
        c.between == "node - leaf"    ? fmt::format("{} x {}", counted(f.now.nodes, "node", "nodes"), f.nics_per_node)
        : c.between == "leaf - spine" ? fmt::format("{} x {}", counted(f.now.leaves, "leaf", "leaves"), f.up)
                                      : fmt::format("{} x {}", counted(f.now.spines, "spine", "spines"), f.spine_up);
    s.lines.push_back(
        {c.between, formula,
         fmt::format("{} of {}, {}{}",
                     pair ? counted(c.now, "fibre", "fibres")
                          : counted(c.now, fmt::format("{} cable", spec::name(c.medium)).c_str(),
                                    fmt::format("{} cables", spec::name(c.medium)).c_str()),
                     rate(c.rate),
                     spec::format(c.length),
                     pair ? fmt::format(", {} {} modules", count(2 * c.now), spec::name(c.medium)) : ""),
         fmt::format(
             "{} reaches {}: {}", spec::name(c.medium), spec::format(spec::reach(c.medium, c.rate)),
             c.medium == spec::CableMedium::kAec || c.medium == spec::CableMedium::kAoc ? "products" : "IEEE 802.3")});
  }
  if (p.shape.split > 1)
    s.notes.push_back(fmt::format("A port of a leaf has up to {} NICs, by a splitting cable; each NIC counts as a cable.",
                                  p.shape.split));
  return s;
}

Section growth_section(const Plan& p) {
  const Shape& f = p.shape;
  Section s{.title = "Growth in 18 months, and ports", .lines = {}};
  if (p.request.gpus_later)
    s.lines.push_back({"GPUs", fmt::format("{} in 18 months - {} now", count(p.request.later()), count(p.request.gpus)),
                       fmt::format("{} more", count(p.request.later() - p.request.gpus)), ""});
  else
    s.lines.push_back({"GPUs", "", fmt::format("{} now and in 18 months", count(p.request.gpus)), ""});
  for (const TierPorts& t : p.ports) {
    s.lines.push_back({fmt::format("{} ports", t.tier),
                       fmt::format("{} x {} - {} used - {} reserved for later", counted(t.switches, "switch", "switches"),
                                   f.radix, count(t.used), count(t.reserved)),
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
    std::string result = kilowatts(row.power());
    if (const auto cost = row.cost()) result += fmt::format(", {}", money_text(*cost, p.prices));
    s.lines.push_back(
        {std::string(name(row.item)),
         row.price ? fmt::format("{} x {}, {}", count(row.count), watts(row.watts), money_text(*row.price, p.prices))
                   : fmt::format("{} x {}", count(row.count), watts(row.watts)),
         result, ""});
  }
  s.lines.push_back(
      {"fabric",
       fmt::format("{} - {} of servers", kilowatts(p.now.watts), kilowatts(p.now.watts - p.now.fabric_watts)),
       fmt::format("{}, {:.0f} W for each GPU", kilowatts(p.now.fabric_watts), p.now.fabric_watts / p.request.gpus),
       ""});
  if (p.now.fabric_cost)
    s.lines.push_back(
        {"price of the fabric without servers", "", money_text(*p.now.fabric_cost, p.prices), "your prices file"});
  if (grows) {
    s.lines.push_back({"fabric in 18 months", "", kilowatts(p.later.fabric_watts), ""});
    if (p.later.fabric_cost)
      s.lines.push_back({"the same in 18 months", "", money_text(*p.later.fabric_cost, p.prices), "your prices file"});
  }
  if (p.prices.energy) {
    constexpr double kHours = 24 * 365;
    s.lines.push_back({"energy of the fabric in a year",
                       fmt::format("{} x {} x 8,760 h x {} {}", kilowatts(p.now.fabric_watts), p.prices.pue,
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
  Section s{.title = fmt::format("{} against {}", rate(p.step.now.rate), rate(p.step.twice.rate)), .lines = {}};
  s.table = step_up_table(p.step, p.prices);
  for (const Trigger& t : p.step.triggers)
    s.lines.push_back(
        {t.what, t.formula, fmt::format("{}, {}", t.result, t.reached ? "reached" : "not reached"), t.threshold});
  const bool worth = p.step.triggers.front().reached;
  s.notes.push_back(p.step.all_reached() ? fmt::format("All three triggers are reached: step up to {}.", rate(p.step.twice.rate))
                    : worth              ? "The step is worth it, but not all triggers are reached: see those that are not."
                                         : fmt::format("Stay at {}: the job does not need more.", rate(p.step.now.rate)));
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
