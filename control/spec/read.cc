#include "control/spec/read.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "control/spec/addresses.h"
#include "control/spec/check/check.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/congestion_default.h"
#include "control/spec/draft.h"
#include "control/spec/fabrics.h"
#include "control/spec/flow_file.h"
#include "control/spec/link_bundle.h"
#include "control/spec/job_graph.h"
#include "control/spec/matrix_file.h"
#include "control/spec/placement_file.h"
#include "control/spec/trace_file.h"
#include "control/spec/keys/keys.h"
#include "control/spec/presets/preset.h"
#include "control/spec/reducers.h"
#include "control/spec/select.h"

namespace railyard::spec {
namespace {

using Kind = NodeSpec::Kind;

constexpr std::array kKinds{Kind::kSwitch, Kind::kHost, Kind::kTrunk};

const char* word(Kind kind) { return kind == Kind::kSwitch ? "switch" : kind == Kind::kHost ? "host" : "trunk"; }
const char* plural(Kind kind) { return kind == Kind::kSwitch ? "switches" : kind == Kind::kHost ? "hosts" : "trunks"; }

void read_profiles(Draft& draft) {
  Lab& lab = draft.lab;
  if (const Tree* qos = draft.sections.qos) lab.qos = read_profiles(*qos, qos_keys());
  if (const Tree* switches = draft.sections.switches) {
    Tree profiles = *switches;
    std::erase_if(profiles.entries, [](const Tree::Entry& e) { return is_pattern(e.key); });
    lab.switches = read_profiles(profiles, switch_keys());
  }
  if (const Tree* hosts = draft.sections.hosts) lab.hosts = read_profiles(*hosts, host_keys());
  lab.switches.try_emplace("default");
  lab.hosts.try_emplace("default");
}

LinkSpec read_link_defaults(const Draft& draft) {
  LinkSpec link;
  if (const Tree* defaults = draft.sections.defaults) {
    defaults->as_map("a map with the key 'link'");
    refuse_unknown_keys(*defaults, {"link"});
    if (const Tree* said = defaults->find("link")) link_keys().read(*said, link);
  }
  return link;
}

void expand_topology(Draft& draft, const LinkSpec& link) {
  if (draft.sections.topology == nullptr) return;
  expand_preset(*draft.sections.topology, link, draft.lab);
  draft.nodes.assign(draft.lab.nodes.size(), draft.sections.topology);
  draft.links.assign(draft.lab.links.size(), draft.sections.topology);
  for (std::size_t i = 0; i < draft.lab.nodes.size(); ++i) draft.node_index[draft.lab.nodes[i].name] = i;
}

Kind read_kind(const Tree& tree, const NodeSpec* preset) {
  const Tree* said = tree.find("kind");
  if (said == nullptr) {
    if (preset == nullptr) tree.fail("key 'kind' is missing: switch, host or trunk");
    return preset->kind;
  }
  const Kind kind =
      choice<Kind>({{"switch", Kind::kSwitch}, {"host", Kind::kHost}, {"trunk", Kind::kTrunk}}).read(*said);
  if (preset != nullptr && kind != preset->kind)
    said->fail(
        fmt::format("{} is a {} of the preset; expected this kind, or another name", preset->name, word(preset->kind)));
  return kind;
}

void refuse_keys_of_other_kind(const Tree& tree, const NodeSpec& node) {
  const auto knows = [](Kind kind, const std::string& key) {
    const std::vector<std::string>& known = node_keys(kind).known();
    return std::ranges::find(known, key) != known.end();
  };
  for (const Tree::Entry& e : tree.entries) {
    if (knows(node.kind, e.key)) continue;
    for (const Kind other : kKinds)
      if (knows(other, e.key))
        fail_at(e.place, tree.path,
                fmt::format("key '{}' is for {}; {} is a {}", e.key, plural(other), node.name, word(node.kind)));
  }
}

void read_node(Draft& draft, const Tree::Entry& entry) {
  const Parsed<std::string> name = parse_name(entry.key);
  if (!name) fail_at(entry.place, draft.sections.nodes->path, name.error());
  entry.value.as_map("a map with the keys of a node");
  const auto [found, is_new] = draft.node_index.try_emplace(*name, draft.lab.nodes.size());
  const Kind kind = read_kind(entry.value, is_new ? nullptr : &draft.lab.nodes[found->second]);
  if (is_new) {
    NodeSpec& made = draft.lab.nodes.emplace_back();
    made.name = *name;
    made.kind = kind;
    if (kind == Kind::kHost) made.nics.emplace_back().place = entry.place;
    draft.nodes.push_back(&entry.value);
  }
  NodeSpec& node = draft.lab.nodes[found->second];
  node.place = entry.place;
  draft.nodes[found->second] = &entry.value;
  refuse_keys_of_other_kind(entry.value, node);
  node_keys(kind).read(entry.value, node);
}

void read_nodes(Draft& draft) {
  if (draft.sections.nodes != nullptr)
    for (const Tree::Entry& entry : draft.sections.nodes->as_map("a map of nodes by name")) read_node(draft, entry);
  if (draft.lab.nodes.empty()) draft.document->fail("no nodes; expected a topology, or nodes and links");
}

// Whether one of the patterns in a list with commas, as "leaf3,leaf4,spine2*", fits.
bool one_matches(std::string_view patterns, std::string_view name) {
  for (std::size_t begin = 0; begin <= patterns.size();) {
    const std::size_t end = std::min(patterns.find(',', begin), patterns.size());
    if (matches(patterns.substr(begin, end - begin), name)) return true;
    begin = end + 1;
  }
  return false;
}

// Calls `set(settings, where, node)` for each switch that a pattern of `switches` fits, in the order of the patterns.
template <class F>
void for_each_fitting(Draft& draft, F&& set) {
  if (draft.sections.switches == nullptr) return;
  for (const Tree::Entry& e : draft.sections.switches->entries) {
    if (!is_pattern(e.key)) continue;
    const auto fits = [&](const NodeSpec& n) { return n.kind == Kind::kSwitch && one_matches(e.key, n.name); };
    if (std::ranges::none_of(draft.lab.nodes, fits))
      fail_at(e.place, draft.sections.switches->path, fmt::format("no switch is named '{}'", e.key));
    NodeSpec settings;
    switch_pattern_keys().read(e.value, settings);
    for (NodeSpec& node : draft.lab.nodes)
      if (fits(node)) set(settings, e.value, node);
  }
}

// Switches that name no profile themselves have that of the last pattern that they fit, else the preset's.
void choose_profiles(Draft& draft) {
  for_each_fitting(draft, [&](const NodeSpec& settings, const Tree& where, NodeSpec& node) {
    const Tree* const said = where.find("profile");
    if (said == nullptr) return;
    if (!draft.lab.switches.contains(settings.profile))
      said->fail(fmt::format("there is no switch profile '{}'", settings.profile));
    if (draft.nodes[draft.node_index.at(node.name)]->find("profile") == nullptr) node.profile = settings.profile;
  });
}

// Switches that say nothing about it are controlled as the last pattern that they fit says, else as their profile does.
void control_switches(Draft& draft) {
  Lab& lab = draft.lab;
  std::map<std::string, ControlSpec> by_pattern;
  for_each_fitting(draft, [&](const NodeSpec& settings, const Tree&, NodeSpec& node) {
    if (settings.control) by_pattern[node.name] = *settings.control;
  });
  for (NodeSpec& node : lab.nodes) {
    if (node.kind != Kind::kSwitch || node.control) continue;
    const auto fitting = by_pattern.find(node.name);
    const auto profile = lab.switches.find(node.profile);
    const ControlSpec said = fitting != by_pattern.end()      ? fitting->second
                             : profile != lab.switches.end() ? profile->second.control
                                                             : ControlSpec{};
    if (said != ControlSpec{}) node.control = said;
  }
}

// Hosts that say nothing about it are what their profile says.
void attach_by_profile(Lab& lab) {
  for (NodeSpec& node : lab.nodes) {
    const auto profile = lab.hosts.find(node.profile);
    if (node.kind != Kind::kHost || profile == lab.hosts.end()) continue;
    if (std::ranges::all_of(node.nics, [](const NicSpec& nic) { return nic.attach == Attachment{}; }))
      for (NicSpec& nic : node.nics) nic.attach = profile->second.attach;
  }
}

void read_links(Draft& draft, const LinkSpec& defaults) {
  if (draft.sections.links == nullptr) return;
  if (draft.sections.links->kind == Tree::Kind::kMap && draft.sections.topology != nullptr)
    draft.sections.links->fail(
        "found a map; expected a list of links such as [h1:1, leaf1:1]; the links of a preset are set by its keys, such "
        "as topology.host-link.rate");
  for (const Tree& tree : draft.sections.links->as_list("a list of links such as [h1:1, leaf1:1]")) {
    draft.lab.links.push_back(read_link(tree, defaults));
    draft.links.push_back(&tree);
  }
}

void read_traffic(Draft& draft) {
  if (draft.sections.traffic == nullptr) return;
  for (const Tree& tree : draft.sections.traffic->as_list("a list of traffic patterns")) {
    TrafficSpec& traffic = draft.lab.traffic.emplace_back();
    traffic.place = tree.place;
    traffic_keys().read(tree, traffic);
    draft.traffic.push_back(&tree);
  }
}

void read_flow_files(Draft& draft) {
  for (TrafficSpec& traffic : draft.lab.traffic)
    if (traffic.pattern == TrafficSpec::Pattern::kFile)
      read_flow_file(draft.lab, senders(draft.lab, traffic), traffic);
}

void read_collectives(Draft& draft) {
  if (draft.sections.collectives == nullptr) return;
  for (const Tree& tree : draft.sections.collectives->as_list("a list of collectives")) {
    collective_keys().read(tree, draft.lab.collectives.emplace_back());
    draft.collectives.push_back(&tree);
  }
}

void read_jobs(Draft& draft) {
  if (draft.sections.jobs == nullptr) return;
  for (const Tree& tree : draft.sections.jobs->as_list("a list of jobs")) {
    job_keys().read(tree, draft.lab.collectives.emplace_back());
    draft.collectives.push_back(&tree);
  }
}

void read_placement_files(Draft& draft) {
  for (CollectiveSpec& collective : draft.lab.collectives)
    if (!collective.placement.empty())
      collective.placed = read_placement_file(draft.lab, collective.placement);
}

void read_trace_files(Draft& draft) {
  for (CollectiveSpec& c : draft.lab.collectives)
    if (!c.trace.empty()) {
      c.traced = read_trace_file(c.trace);
      c.size = Bytes{static_cast<std::int64_t>(jobs::total_octets(*c.traced.graph))};
    }
}

void make_job_graphs(Draft& draft) {
  for (std::size_t i = 0; i < draft.lab.collectives.size(); ++i)
    if (draft.lab.collectives[i].is_job()) make_job_graph(draft.lab, draft.lab.collectives[i], *draft.collectives[i]);
}

void read_matrix_files(Draft& draft) {
  for (CollectiveSpec& c : draft.lab.collectives) {
    if (c.matrix.empty()) continue;
    c.octets = read_matrix_file(c.matrix, spec::ranks(draft.lab, c).size(), c.element_octets());
    c.size = largest_row(c.octets);
  }
}

void choose_protocols(Draft& draft) {
  for (CollectiveSpec& c : draft.lab.collectives)
    if (c.protocol == collectives::Protocol::kAuto && !c.is_graph()) c.chosen = choice_of_nccl(draft.lab, c);
}

void choose_channels(Draft& draft) {
  for (CollectiveSpec& collective : draft.lab.collectives)
    if (!collective.channels) collective.channels = usual_channels(draft.lab, collective);
}

void read_faults(Draft& draft) {
  if (draft.sections.faults == nullptr) return;
  for (const Tree& tree : draft.sections.faults->as_list("a list of faults")) {
    fault_keys().read(tree, draft.lab.faults.emplace_back());
    draft.faults.push_back(&tree);
  }
  name_faults(draft.lab.faults);
}

}  // namespace

Lab read_lab(const Tree& document) {
  Draft draft;
  draft.document = &document;
  file_keys().read(document, draft.sections);
  draft.lab.name = draft.sections.name;
  draft.lab.description = draft.sections.description;
  if (draft.sections.routing != nullptr) draft.lab.routing = routing_form().read(*draft.sections.routing);
  if (draft.sections.run != nullptr) run_keys().read(*draft.sections.run, draft.lab.run);
  if (draft.sections.probe != nullptr && draft.sections.probe->kind != Tree::Kind::kNothing)
    probe_keys().read(*draft.sections.probe, draft.lab.probe.emplace());
  if (draft.sections.compare != nullptr) compare_keys().read(*draft.sections.compare, draft.lab.compare);
  if (draft.sections.expect != nullptr && draft.sections.expect->kind != Tree::Kind::kNothing)
    draft.lab.expect = one_or_list_of(condition_form()).read(*draft.sections.expect);
  if (draft.sections.diagnosis != nullptr) diagnosis_keys().read(*draft.sections.diagnosis, draft.lab.diagnosis);
  if (draft.sections.sites != nullptr) {
    draft.lab.sites = read_profiles(*draft.sections.sites, site_keys());
    for (const Tree::Entry& e : draft.sections.sites->entries) draft.lab.sites.at(e.key).place = e.place;
  }
  if (draft.sections.trunks != nullptr && draft.sections.trunks->kind != Tree::Kind::kNothing)
    trunks_keys().read(*draft.sections.trunks, draft.lab.trunks);
  read_profiles(draft);

  const LinkSpec link = read_link_defaults(draft);
  expand_topology(draft, link);
  expand_fabrics(draft, link);
  read_nodes(draft);
  draft.lab.make_index();
  read_links(draft, link);
  name_bundles(draft.lab);
  read_traffic(draft);
  read_collectives(draft);
  read_jobs(draft);
  read_faults(draft);

  choose_profiles(draft);
  check_profiles(draft);
  attach_by_profile(draft.lab);
  control_switches(draft);
  add_reducers(draft);
  check_links(draft);
  check_addresses(draft);
  assign_addresses(draft.lab);
  check_attachments(draft);
  check_trunks(draft);
  check_sites(draft);
  read_flow_files(draft);
  read_placement_files(draft);
  read_trace_files(draft);
  make_job_graphs(draft);
  read_matrix_files(draft);
  choose_protocols(draft);
  choose_channels(draft);
  check_traffic(draft);
  check_collectives(draft);
  check_int(draft);
  check_probe(draft);
  check_routing(draft);
  check_faults(draft);
  choose_congestion(draft.lab);
  return std::move(draft.lab);
}

}  // namespace railyard::spec
