// `railyard check`: a lab without packets.
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "control/base/json_text.h"
#include "control/build/built_lab.h"
#include "control/build/packet_memory.h"
#include "control/build/state_memory.h"
#include "control/build/tag_lines.h"
#include "control/lint/rule.h"
#include "control/picture/words.h"
#include "control/report/judge.h"
#include "control/report/thresholds.h"
#include "control/report/units.h"
#include "control/spec/fault_place.h"
#include "control/spec/load.h"
#include "control/spec/reducers.h"
#include "control/spec/value.h"
#include "control/structure/structure.h"
#include "tools/railyard/commands.h"

namespace railyard::tools {
namespace {

struct CheckOptions {
  std::string file;
  std::vector<std::string> sets;
  bool strict = false;
  bool json = false;
  bool rules = false;
};

void print_size(build::BuiltLab& lab) {
  std::size_t switches = 0;
  std::size_t nics = 0;
  std::size_t hosts = 0;
  const spec::Lab fabric = spec::without_reducers(lab.spec());
  const std::size_t reducers = spec::reducers(lab.spec()).size();
  for (const spec::NodeSpec& n : fabric.nodes) {
    switches += n.kind == spec::NodeSpec::Kind::kSwitch ? 1 : 0;
    hosts += n.kind == spec::NodeSpec::Kind::kHost ? 1 : 0;
    nics += n.nics.size();
  }
  const std::size_t collectives = lab.collectives().size();
  fmt::print("{}: {} switches, {} hosts with {} NICs, {} links, {} flows{}\n", lab.spec().name, switches, hosts, nics,
             fabric.links.size(), lab.flows().size(),
             collectives == 0   ? std::string()
             : collectives == 1 ? ", 1 collective"
                                : fmt::format(", {} collectives", collectives));
  if (reducers > 0) fmt::print("{} of the switches reduce for collectives\n", reducers);
}

void print_structure(build::BuiltLab& lab) {
  const spec::Lab fabric = spec::without_reducers(lab.spec());
  for (const std::string& line : structure::lines(structure::structure(routing::Graph(fabric)))) fmt::print("structure: {}\n", line);
}

void print_window(build::BuiltLab& lab) {
  const Fabric::Window w = lab.fabric().window();
  if (w.side != nullptr) {
    fmt::print("window: {} (time that devices simulate between synchronisations), limited by the latency of the scale-up network "
               "of {} and {}\n",
               spec::format(w.size), lab.node_of(w.side->from).name, lab.node_of(w.side->to).name);
    return;
  }
  const PortRef from = lab.fabric().sender(w.channel);
  const Channel& c = lab.fabric().channels()[w.channel];
  fmt::print(
      "window: {} (time that devices simulate between synchronisations), limited by {}:{} -> {}: {} cable and {} "
      "receiver latency\n",
      spec::format(w.size), lab.node_of(from.device).name, from.port.value + 1, lab.peer_name(from),
      spec::format(c.propagation), spec::format(std::min(c.data_latency, c.control_latency)));
}

void print_headroom(build::BuiltLab& lab) {
  // Equal links have equal headroom: one line for each kind.
  std::map<std::tuple<std::int64_t, std::int64_t, int, std::int64_t, std::int64_t, std::int64_t>,
           std::vector<std::string>>
      kinds;
  for (const build::Headroom& h : lab.headrooms()) {
    const PortRef port{h.device, h.port};
    const std::string where = fmt::format("{}:{}", lab.node_of(h.device).name, h.port.value + 1);
    kinds[{lab.rate(port).bps, lab.delay(port).ps, h.priority.value, h.computed.n, h.configured.n, h.pooled.n}]
        .push_back(where);
  }
  if (kinds.empty()) {
    fmt::print("headroom: none needed\n");
    return;
  }
  fmt::print("headroom per port and lossless class (needed / configured):\n");
  for (const auto& [kind, ports] : kinds) {
    const auto& [bps, delay, priority, computed, configured, pooled] = kind;
    fmt::print("  class {} at {}, cable delay {}: {} / {}{}{}   {}{}\n", priority, spec::format(BitRate{bps}),
               spec::format(Duration{delay}), report::size_text(static_cast<std::uint64_t>(computed)),
               report::size_text(static_cast<std::uint64_t>(configured)),
               pooled > 0
                   ? fmt::format(" plus up to {} from the pool", report::size_text(static_cast<std::uint64_t>(pooled)))
                   : std::string(),
               configured + pooled < computed ? " (loss accepted)" : "", ports.front(),
               ports.size() > 1 ? fmt::format(" and {} more ports", ports.size() - 1) : "");
  }
}

// Equal links have equal credits: one line for each kind.
void print_credits(build::BuiltLab& lab) {
  std::map<std::tuple<std::int64_t, std::int64_t, std::size_t, std::uint32_t, std::uint32_t>, std::vector<std::string>>
      kinds;
  for (const Link& link : lab.fabric().links())
    for (const auto& [end, credits] : {std::pair(link.a, &link.credits_at_a), std::pair(link.b, &link.credits_at_b)})
      for (std::size_t k = 0; *credits && k < kPriorities; ++k)
        if (const ClassCredits& c = (*credits)->classes[k]; c.cells > 0)
          kinds[{link.rate.bps, link.propagation.ps, k, c.cells * (*credits)->cell, c.update * (*credits)->cell}]
              .push_back(fmt::format("{}:{}", lab.node_of(end.device).name, end.port.value + 1));
  if (kinds.empty()) return;
  fmt::print("credits per port and class (cbfc):\n");
  for (const auto& [kind, ports] : kinds) {
    const auto& [bps, delay, priority, octets, update] = kind;
    fmt::print("  class {} at {}, cable delay {}: {}, updated every {}   {}{}\n", priority, spec::format(BitRate{bps}),
               spec::format(Duration{delay}), report::size_text(octets), report::size_text(update), ports.front(),
               ports.size() > 1 ? fmt::format(" and {} more ports", ports.size() - 1) : "");
  }
}

// Headroom that all classes of a switch could take from its pool together.
void print_headroom_pools(build::BuiltLab& lab) {
  std::map<std::uint32_t, std::int64_t> wanted;  // by device
  for (const build::Headroom& h : lab.headrooms()) wanted[h.device.value] += h.pooled.n;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>> kinds;
  for (const auto& [device, octets] : wanted) {
    const spec::NodeSpec& node = lab.node_of(DeviceId{device});
    if (const Bytes pool = lab.spec().switches.at(node.profile).headroom_pool; pool > Bytes{})
      kinds[{pool.n, octets}].push_back(node.name);
  }
  for (const auto& [kind, names] : kinds) {
    const auto& [pool, octets] = kind;
    fmt::print("headroom pool: {}; all classes together could need {} ({:.2f} times){}   {}{}\n",
               report::size_text(static_cast<std::uint64_t>(pool)),
               report::size_text(static_cast<std::uint64_t>(octets)),
               static_cast<double>(octets) / static_cast<double>(pool), octets > pool ? " (over-subscribed)" : "",
               names.front(), names.size() > 1 ? fmt::format(" and {} more switches", names.size() - 1) : "");
  }
}

void print_buffers(build::BuiltLab& lab) {
  std::map<std::pair<std::string, std::uint32_t>, std::vector<std::string>> kinds;
  for (const spec::NodeSpec& n : lab.spec().nodes) {
    if (n.kind != spec::NodeSpec::Kind::kSwitch) continue;
    const Mmu& mmu = lab.switch_named(n.name).mmu();
    kinds[{n.profile, mmu.shared_size()}].push_back(n.name);
  }
  fmt::print("buffers (shared memory, after reserved and headroom):\n");
  for (const auto& [kind, names] : kinds) {
    const spec::SwitchProfile& p = lab.spec().switches.at(kind.first);
    fmt::print("  {} of {} in cells of {}   {}{}\n",
               report::size_text(kind.second * static_cast<std::uint64_t>(p.cell.n)),
               report::size_text(static_cast<std::uint64_t>(p.buffer.n)), spec::format(p.cell), names.front(),
               names.size() > 1 ? fmt::format(" and {} more switches", names.size() - 1) : "");
  }
}

void print_thresholds(const spec::Lab& lab) {
  const std::string text = report::thresholds_text(report::effective_thresholds(lab), "  ");
  if (!text.empty()) fmt::print("thresholds (switches compare whole cells; effective: at the lab's frame size):\n{}", text);
}

// What a built lab takes for good, and what a run of it adds to that. docs/scale.md compares it with runs.
void print_state(build::BuiltLab& lab) {
  const build::BuildMemory& built = lab.memory();
  if (built.total() <= 0) return;
  const build::StateMemory state = build::state_memory(lab);
  const auto size = [](std::int64_t octets) { return report::size_text(static_cast<std::uint64_t>(std::max<std::int64_t>(0, octets))); };
  fmt::print("memory: {} hosts with their NICs and flows, {} each; {} switches, {} each; links {}; routing {}; report {}; together {}\n",
             report::count_text(state.hosts), size(state.per_host()), report::count_text(state.switches), size(state.per_switch()),
             size(built.links), size(built.routing), size(state.report), size(state.total()));
}

void print_memory(build::BuiltLab& lab) {
  print_state(lab);
  const build::PacketMemory most = build::packet_memory(lab);
  fmt::print("packets: at most {} data frames of {} bytes or more at once, {} of memory (run.memory allows {})\n",
             report::count_text(most.packets), most.frame_octets, report::size_text(most.octets()),
             report::size_text(static_cast<std::uint64_t>(lab.spec().run.memory.n)));
}

// What carries each.
void print_trunks(const spec::Lab& lab) {
  for (const spec::LinkSpec& link : lab.links)
    for (const auto& [end, peer] : {std::pair(link.a, link.b), std::pair(link.b, link.a)}) {
      const spec::NodeSpec& node = *lab.find(end.node);
      if (node.kind != spec::NodeSpec::Kind::kTrunk) continue;
      const spec::TrunkSpec& t = node.trunk;
      fmt::print("trunk {} at {}: {}\n", node.name, spec::format(peer),
                 t.udp ? fmt::format("UDP {} to {}", to_string(t.udp->local), to_string(t.udp->remote))
                       : "Ethernet frames by " + picture::attachment_text(t.attach));
    }
}

// What will go wrong, by name; that each of them can be where it is said to be has been checked.
void print_faults(const spec::Lab& lab) {
  if (lab.faults.empty()) return;
  fmt::print("faults:\n");
  for (const spec::FaultSpec& f : lab.faults) {
    std::string where;
    for (const spec::FaultPlace& p : f.on) where += (where.empty() ? "" : ", ") + spec::format(p);
    std::string when = f.when ? fmt::format("when {}", spec::format(*f.when))
                       : f.at ? fmt::format("at {}", spec::format(*f.at))
                              : "from the beginning";
    if (f.after) when += fmt::format(", after {}", spec::format(*f.after));
    if (f.every) when += fmt::format(", every {}", spec::format(*f.every));
    if (f.lasts) when += fmt::format(", for {}", spec::format(*f.lasts));
    fmt::print("  {}: {} on {}, {}\n", f.name, spec::word(f.action), where, when);
  }
}

void print_facts(build::BuiltLab& lab) {
  print_size(lab);
  print_structure(lab);
  print_window(lab);
  print_headroom(lab);
  print_credits(lab);
  print_headroom_pools(lab);
  print_buffers(lab);
  print_thresholds(lab.spec());
  print_memory(lab);
  print_trunks(lab.spec());
  for (const std::string& line : build::tag_lines(lab.spec())) fmt::print("802.1Q tags: {}\n", line);
  print_faults(lab.spec());
}

nlohmann::ordered_json to_json(const std::vector<lint::Finding>& findings) {
  auto all = nlohmann::ordered_json::array();
  for (const lint::Finding& f : findings)
    all.push_back({{"rule", f.rule},
                   {"severity", lint::word(f.severity)},
                   {"file", f.place.file},
                   {"line", f.place.line},
                   {"column", f.place.column},
                   {"key", f.path},
                   {"text", f.text},
                   {"fix", f.fix}});
  return all;
}

std::string counted(std::size_t n, std::string_view what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); }

// The table of docs/check.md.
void print_rules() {
  fmt::print("| rule | severity | what it finds |\n|---|---|---|\n");
  for (const lint::Rule& r : lint::rules()) fmt::print("| `{}` | {} | {} |\n", r.name, lint::word(r.severity), r.summary);
}

int check(const CheckOptions& o) {
  spec::LabAndDocument loaded = spec::load_with_document(o.file, o.sets);
  report::check_conditions(loaded.lab, o.sets.empty());
  build::BuiltLab lab(std::move(loaded.lab), build::Outputs::kLeaveAlone);
  const std::vector<lint::Finding> findings = lint::lint(lab, loaded.document);
  const auto errors = static_cast<std::size_t>(std::ranges::count(findings, lint::Severity::kError, &lint::Finding::severity));
  const std::size_t warnings = findings.size() - errors;
  if (o.json) {
    fmt::print("{}\n", json_text(to_json(findings), 2));
  } else {
    print_facts(lab);
    for (const lint::Finding& f : findings) fmt::print("{}\n", lint::to_string(f));
    if (findings.empty())
      fmt::print("ok\n");
    else
      fmt::print("{}, {}\n", counted(errors, "error"), counted(warnings, "warning"));
  }
  return errors > 0 || (o.strict && warnings > 0) ? kInput : kOk;
}

}  // namespace

void add_check(CLI::App* command, int& exit_code) {
  auto o = std::make_shared<CheckOptions>();
  auto* file = command->add_option("SPEC", o->file, "Fabric file (YAML)");
  command->add_flag("--rules", o->rules, "Print the table of rules only");
  command->add_option("--set", o->sets, "Override a value, e.g. --set topology.spines=4")->type_name("PATH=VALUE");
  command->add_flag("--strict", o->strict, "Fail on warnings too");
  command->add_flag("--json", o->json, "Print the findings as JSON only");
  command->footer(
      "It runs no simulation. It prints the window, headroom, buffers and packet memory.\nErrors and warnings follow, "
      "each with its place, key and fix; docs/check.md lists the rules.\n"
      "Exit code 3 (input): errors, or warnings with --strict.\n"
      "Examples:\n"
      "  railyard check topologies/incast-8to1.yaml\n"
      "  railyard check LAB.yaml --strict                # for CI\n"
      "  railyard check LAB.yaml --set qos.default.classes.3.ecn.kmin=2MB");
  command->callback([o, file, &exit_code] {
    if (o->rules) return print_rules();
    if (file->count() == 0) throw CLI::RequiredError("SPEC");
    exit_code = check(*o);
  });
}

}  // namespace railyard::tools
