#include "control/spec/difference.h"

#include <map>
#include <regex>
#include <utility>

#include <fmt/format.h>

#include "control/spec/keys/keys.h"
#include "control/spec/yaml/print.h"

namespace railyard::spec {
namespace {

using Sayings = std::vector<Saying>;

void say(const Tree& tree, const std::string& path, Sayings& out) {
  if (tree.kind == Tree::Kind::kNothing) return;
  if (tree.kind == Tree::Kind::kMap && !tree.entries.empty()) {
    for (const Tree::Entry& e : tree.entries) say(e.value, join_path(path, e.key), out);
    return;
  }
  out.push_back({path, tree.kind == Tree::Kind::kScalar ? tree.text : print_yaml_line(tree)});
}

template <class T>
void say_all(const Table<T>& table, const T& value, const std::string& path, Sayings& out) {
  for (const Key<T>& key : table.keys()) say(key.write(value), join_path(path, key.name), out);
}

// What has no meaning for the class is not said, as the file refuses to have it said.
bool has_meaning(const std::string& key, const TrafficClass& c) {
  if (key == "alpha") return !c.xoff;
  if (key == "xon-offset" || key == "headroom" || key == "accept-loss" || key == "accept-deadlock" || key == "cbfc") return c.lossless;
  if (key == "queue-alpha") return !c.lossless && !c.queue_limit;
  if (key == "queue-limit" || key == "drop") return !c.lossless;
  if (key == "weight") return !c.strict;
  return true;
}

void say_class(const TrafficClass& c, const std::string& path, Sayings& out) {
  for (const Key<TrafficClass>& key : class_keys().keys()) {
    if (!has_meaning(key.name, c)) continue;
    const std::string at = join_path(path, key.name);
    if (key.name != "ecn" || !c.ecn.enabled) {
      say(key.write(c), at, out);
      continue;
    }
    if (!c.ecn.auto_thresholds) {
      say_all(ecn_keys(), c.ecn, at, out);
      continue;
    }
    out.push_back({at, "auto"});
    const WithDefaults too;
    for (const Key<Ecn>& threshold : ecn_keys().keys()) {
      const std::string path_of_it = join_path(at, threshold.name);
      if (threshold.name == "kmin" || threshold.name == "kmax")
        out.push_back({path_of_it, "auto"});
      else
        say(threshold.write(c.ecn), path_of_it, out);
    }
  }
}

void say_qos(const QosProfile& qos, const std::string& path, Sayings& out) {
  for (const Key<QosProfile>& key : qos_keys().keys()) {
    if (key.name != "classes") {
      say(key.write(qos), join_path(path, key.name), out);
      continue;
    }
    for (std::size_t c = 0; c < qos.classes.size(); ++c)
      say_class(qos.classes[c], fmt::format("{}.classes.{}", path, c), out);
  }
}

void say_switch(const SwitchProfile& profile, const std::string& path, Sayings& out) {
  for (const Key<SwitchProfile>& key : switch_keys().keys()) {
    const std::string at = join_path(path, key.name);
    if (key.name == "ecmp")
      say_all(ecmp_keys(), profile.ecmp, at, out);
    else
      say(key.write(profile), at, out);
  }
}

std::string path_of(const LinkSpec& link) { return "links." + format(link.a); }
std::string path_of(const TrafficSpec& traffic) { return "traffic." + traffic.name; }
std::string path_of(const CollectiveSpec& c) { return c.path(); }
std::string path_of(const FaultSpec& fault) { return "faults." + fault.name; }
std::string path_of(const NodeSpec& node) { return "nodes." + node.name; }

void say_node(const NodeSpec& node, Sayings& out) {
  say_all(node.kind == NodeSpec::Kind::kSwitch ? switch_node_keys() : host_node_keys(), node, path_of(node), out);
}
void say_link(const LinkSpec& link, Sayings& out) {
  out.push_back({join_path(path_of(link), "to"), format(link.b)});
  say_all(link_keys(), link, path_of(link), out);
}
void say_traffic(const TrafficSpec& traffic, Sayings& out) { say_all(traffic_keys(), traffic, path_of(traffic), out); }

void say_collective(const CollectiveSpec& c, Sayings& out) { say_all(c.is_job() ? job_keys() : collective_keys(), c, path_of(c), out); }

void say_fault(const FaultSpec& fault, Sayings& out) { say_all(fault_keys(), fault, path_of(fault), out); }

// Says both if they are not the same, so that large labs are compared quickly.
template <class T, class Say>
void compare(const T& from, const T& to, Say&& say, Sayings& before, Sayings& after) {
  if (from == to) return;
  say(from, before);
  say(to, after);
}

template <class T, class Say>
void compare_profiles(const std::string& section, const std::map<std::string, T>& from,
                      const std::map<std::string, T>& to, Say&& say, Sayings& before, Sayings& after) {
  for (const auto& [name, profile] : from)
    if (const auto other = to.find(name); other == to.end() || !(other->second == profile))
      say(profile, join_path(section, name), before);
  for (const auto& [name, profile] : to)
    if (const auto other = from.find(name); other == from.end() || !(other->second == profile))
      say(profile, join_path(section, name), after);
}

template <class T, class Say>
void compare_lists(const std::string& section, const std::vector<T>& from, const std::vector<T>& to, Say&& say,
                   Sayings& before, Sayings& after) {
  if (from.size() != to.size()) {
    before.push_back({section, fmt::format("{} of them", from.size())});
    after.push_back({section, fmt::format("{} of them", to.size())});
    return;
  }
  for (std::size_t i = 0; i < from.size(); ++i) compare(from[i], to[i], say, before, after);
}

}  // namespace

bool is_live(const std::string& path) {
  static const std::regex kLive(
      "qos\\.[^.]+\\.classes\\.[0-7]\\.(pfc|alpha|xoff|xon-offset|queue-alpha|queue-limit|strict|weight|path|path\\..+|"
      "ecn|ecn\\..+|drop|drop\\..+|by-rate\\.[^.]+\\.(pfc|alpha|xoff|xon-offset))"
      "|hosts\\.[^.]+\\.pfc"
      "|nodes\\.[^.]+\\.ports\\.[0-9]+\\.(classes\\.[0-7]\\.)?(pfc|alpha|xoff|xon-offset)"
      "|switches\\.[^.]+\\.ecmp\\..+"
      "|links\\.[^.]+\\.rate"
      "|traffic\\.[^.]+\\.rate");
  return std::regex_match(path, kLive);
}

std::vector<Saying> live_sayings(const Lab& lab) {
  Sayings all;
  for (const auto& [name, profile] : lab.qos) say_qos(profile, "qos." + name, all);
  for (const auto& [name, profile] : lab.switches) say_switch(profile, "switches." + name, all);
  for (const LinkSpec& link : lab.links) say_link(link, all);
  for (const TrafficSpec& traffic : lab.traffic) say_traffic(traffic, all);
  std::erase_if(all, [](const Saying& s) { return !is_live(s.path); });
  return all;
}

std::vector<Difference> differences(const Lab& from, const Lab& to) {
  if (from == to) return {};
  const WithDefaults in_blocks;  // what a block does not say is that
  Sayings before;
  Sayings after;
  compare(
      from.name, to.name,
      [](const std::string& s, Sayings& out) {
        out.push_back({"name", s});
      },
      before, after);
  compare(
      from.description, to.description,
      [](const std::string& s, Sayings& out) {
        out.push_back({"description", s});
      },
      before, after);
  compare_profiles("qos", from.qos, to.qos, say_qos, before, after);
  compare_profiles("switches", from.switches, to.switches, say_switch, before, after);
  compare_profiles(
      "hosts", from.hosts, to.hosts,
      [](const HostProfile& p, const std::string& path, Sayings& out) {
        say_all(host_keys(), p, path, out);
      },
      before, after);
  compare_lists("nodes", from.nodes, to.nodes, say_node, before, after);
  compare_lists("links", from.links, to.links, say_link, before, after);
  compare_lists("traffic", from.traffic, to.traffic, say_traffic, before, after);
  compare_lists("collectives", from.collectives, to.collectives, say_collective, before, after);
  compare_lists("faults", from.faults, to.faults, say_fault, before, after);
  compare(
      from.routing, to.routing, [](const RoutingSpec& r, Sayings& out) { say_all(routing_keys(), r, "routing", out); },
      before, after);
  compare(
      from.run, to.run, [](const RunSpec& r, Sayings& out) { say_all(run_keys(), r, "run", out); }, before, after);

  std::map<std::string, Difference> by_path;
  for (const Saying& s : before) by_path[s.path] = {s.path, s.value, "-"};
  for (const Saying& s : after) {
    Difference& d = by_path.try_emplace(s.path, Difference{s.path, "-", ""}).first->second;
    d.to = s.value;
  }
  // Of marking by the rate of the port, and by thresholds that are said, these speak.
  const auto is_said_by_thresholds = [](const Difference& d) {
    return d.path.ends_with(".ecn") && ((d.from == "auto" && d.to == "-") || (d.from == "-" && d.to == "auto"));
  };
  std::vector<Difference> different;
  for (auto& [path, d] : by_path)
    if (d.from != d.to && !is_said_by_thresholds(d)) different.push_back(std::move(d));
  // Labs that differ and say the same cannot be written down; better an odd path than none.
  if (different.empty()) different.push_back({"the lab", "-", "-"});
  return different;
}

}  // namespace railyard::spec
