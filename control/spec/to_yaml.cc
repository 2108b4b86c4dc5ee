#include "control/spec/to_yaml.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <tuple>

#include "control/spec/keys/keys.h"
#include "control/spec/yaml/print.h"

namespace railyard::spec {
namespace {

template <class T>
Tree write_profiles(const std::map<std::string, T>& profiles, const Table<T>& table) {
  Tree map = Tree::map();
  map.spread = true;
  for (const auto& [name, profile] : profiles) map.add(name, table.write(profile));
  return map;
}

// What most links are like.
LinkSpec usual_link(const std::vector<LinkSpec>& links) {
  std::map<std::tuple<BitRate, Duration, std::optional<Length>, int>, std::size_t> count;
  LinkSpec usual;
  std::size_t most = 0;
  for (const LinkSpec& link : links)
    if (const std::size_t n = ++count[{link.rate, link.delay, link.cable, link.mtu}]; n > most) {
      most = n;
      usual = link;
    }
  usual.weight.reset();  // said where it is meant
  usual.bundle.clear();
  return usual;
}

Tree write_nodes(const std::vector<NodeSpec>& nodes) {
  Tree map = Tree::map();
  map.spread = true;
  for (const NodeSpec& node : nodes)
    map.add(node.name, node_keys(node.kind).write(node));
  return map;
}

Tree write_links(const std::vector<LinkSpec>& links, const LinkSpec& usual) {
  Tree list = Tree::list({});
  list.spread = true;
  for (const LinkSpec& link : links) list.items.push_back(write_link(link, usual));
  return list;
}

Tree write_traffic(const std::vector<TrafficSpec>& traffic) {
  Tree list = Tree::list({});
  list.spread = true;
  for (const TrafficSpec& t : traffic) list.items.push_back(traffic_keys().write(t));
  return list;
}

// Those that are jobs, or the others.
Tree write_collectives(const std::vector<CollectiveSpec>& collectives, bool jobs) {
  Tree list = Tree::list({});
  list.spread = true;
  for (const CollectiveSpec& c : collectives)
    if (c.is_job() == jobs) list.items.push_back((jobs ? job_keys() : collective_keys()).write(c));
  return list;
}

Tree write_faults(const std::vector<FaultSpec>& faults) {
  Tree list = Tree::list({});
  list.spread = true;
  for (const FaultSpec& f : faults) list.items.push_back(fault_keys().write(f));
  return list;
}

// All that a link can say beside its ends, the defaults too.
Tree write_all(const LinkSpec& link) {
  Tree map = Tree::map();
  for (const Key<LinkSpec>& key : link_keys().keys())
    if (Tree value = key.write(link); value.kind != Tree::Kind::kNothing) map.add(key.name, std::move(value));
  return map;
}

}  // namespace

std::string to_yaml(const Lab& lab, Defaults defaults) {
  std::optional<WithDefaults> all;
  const auto write_defaults = [&](bool on) {
    all.reset();
    if (on && defaults == Defaults::kWritten) all.emplace();
  };
  Sections head;
  head.name = lab.name;
  head.description = lab.description;
  Tree file = file_keys().write(head);
  write_defaults(true);
  file.add("qos", write_profiles(lab.qos, qos_keys()));
  file.add("switches", write_profiles(lab.switches, switch_keys()));
  file.add("hosts", write_profiles(lab.hosts, host_keys()));
  write_defaults(false);
  const LinkSpec usual = usual_link(lab.links);
  file.add("defaults", Tree::map({{"link", write_all(usual)}}));
  file.add("nodes", write_nodes(lab.nodes));
  if (!lab.links.empty()) file.add("links", write_links(lab.links, usual));
  write_defaults(true);
  if (!lab.traffic.empty()) file.add("traffic", write_traffic(lab.traffic));
  for (const bool jobs : {false, true})
    if (Tree list = write_collectives(lab.collectives, jobs); !list.items.empty())
      file.add(jobs ? "jobs" : "collectives", std::move(list));
  write_defaults(false);
  if (!lab.faults.empty()) file.add("faults", write_faults(lab.faults));
  write_defaults(true);
  if (Tree routing = routing_keys().write(lab.routing); !routing.entries.empty()) file.add("routing", std::move(routing));
  file.add("run", run_keys().write(lab.run));
  write_defaults(false);
  if (lab.probe) {
    write_defaults(true);
    file.add("probe", probe_keys().write(*lab.probe));
    write_defaults(false);
  }
  if (lab.compare != CompareSpec{}) file.add("compare", compare_keys().write(lab.compare));
  if (!lab.expect.empty()) file.add("expect", one_or_list_of(condition_form()).write(lab.expect));
  if (!lab.diagnosis.empty()) file.add("diagnosis", diagnosis_keys().write(lab.diagnosis));
  if (!lab.sites.empty()) file.add("sites", write_profiles(lab.sites, site_keys()));
  if (Tree trunks = trunks_keys().write(lab.trunks); !trunks.entries.empty()) file.add("trunks", std::move(trunks));
  return print_yaml(file);
}

}  // namespace railyard::spec
