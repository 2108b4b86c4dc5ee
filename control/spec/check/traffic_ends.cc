#include "control/spec/check/traffic_ends.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

#include "control/spec/select.h"
#include "control/spec/suggest.h"

namespace railyard::spec {
namespace {

using Pattern = TrafficSpec::Pattern;

// Why a selector, which is of hosts, matches nothing.
[[noreturn]] void fail_selector(const Lab& lab, const std::string& selector, const Tree& where, bool sending) {
  const std::string host = selector.substr(0, selector.find(':'));
  std::vector<std::string> names;
  const NodeSpec* fits = nullptr;
  for (const NodeSpec& node : lab.nodes) {
    if (node.kind == NodeSpec::Kind::kHost) names.push_back(node.name);
    if (fits == nullptr && matches(host, node.name)) fits = &node;
    if (fits != nullptr && fits->kind != NodeSpec::Kind::kHost && node.kind == NodeSpec::Kind::kHost &&
        matches(host, node.name))
      fits = &node;
  }
  if (fits == nullptr) {
    std::string hint = did_you_mean(host, names);
    if (hint.empty() && !names.empty())
      hint = fmt::format("; there are {}, {} to {}", names.size(), names.front(), names.back());
    where.fail(fmt::format("'{}' matches no host{}", host, hint));
  }
  if (fits->kind != NodeSpec::Kind::kHost)
    where.fail(fmt::format("'{}' is a {}; expected hosts", fits->name,
                           fits->kind == NodeSpec::Kind::kSwitch ? "switch" : "trunk"));
  if (fits->reduces) where.fail(fmt::format("'{}' is the reducer of a switch; expected hosts", fits->name));
  if (host.size() != selector.size()) {
    const auto port = static_cast<std::size_t>(selector.back() - '0');
    if (std::ranges::none_of(lab.nodes,
                             [&](const NodeSpec& n) { return matches(host, n.name) && n.nics.size() >= port; }))
      where.fail(fmt::format("'{}': {} has {} NIC{}", selector, fits->name, fits->nics.size(),
                             fits->nics.size() == 1 ? "" : "s"));
  }
  where.fail(sending ? fmt::format("{} is attached and sends its own frames; expected hosts with built-in traffic or, "
                                   "with transport: roce, with an agent",
                                   fits->name)
                     : fmt::format("'{}' matches attached hosts only; expected the name of one", selector));
}

// The tree of the n-th selector; the traffic's own if the key is not there.
const Tree& selector_tree(const Tree& said, const char* key, std::size_t n) {
  const Tree& value = said.at_or_self(key);
  return &value != &said && n < value.items.size() ? value.items[n] : value;
}

void check_selectors(const Lab& lab, const TrafficSpec& traffic, const Tree& said, bool sending) {
  const std::vector<std::string>& selectors = sending ? traffic.from : traffic.to;
  for (std::size_t n = 0; n < selectors.size(); ++n) {
    TrafficSpec one;
    one.from = one.to = {selectors[n]};
    one.transport = traffic.transport;
    one.roce.operation = traffic.roce.operation;
    if ((sending ? senders(lab, one) : receivers(lab, one)).empty())
      fail_selector(lab, selectors[n], selector_tree(said, sending ? "from" : "to", n), sending);
  }
}

// How many of some NICs each host has.
class NicsByHost {
 public:
  explicit NicsByHost(const std::vector<PortName>& nics) : all_(nics.size()) {
    for (const PortName& nic : nics) ++of_[nic.node];
  }
  const std::map<std::string, std::size_t>& of() const { return of_; }
  std::size_t outside(const std::string& host) const {
    const auto in = of_.find(host);
    return all_ - (in == of_.end() ? 0 : in->second);
  }

 private:
  std::size_t all_;
  std::map<std::string, std::size_t> of_;
};

// NICs by rail, that is by their number in the host.
std::map<int, std::vector<PortName>> by_rail(const std::vector<PortName>& nics) {
  std::map<int, std::vector<PortName>> nics_of;
  for (const PortName& nic : nics) nics_of[nic.port].push_back(nic);
  return nics_of;
}

void check_pairs(const TrafficEnds& ends, const Tree& said) {
  const std::size_t from = ends.from.size();
  const std::size_t to = ends.to.size();
  if (from != to && from != 1 && to != 1)
    said.fail(fmt::format("pairs of {} senders and {} receivers; expected equal numbers, or one sender or receiver",
                          from, to));
}

void check_fan_in(const TrafficSpec& traffic, const TrafficEnds& part, const Tree& said) {
  const NicsByHost from(part.from);
  for (const PortName& to : part.to)
    if (const std::size_t others = from.outside(to.node); static_cast<std::size_t>(traffic.fan_in) > others)
      said.at_or_self("fan-in").fail(
          fmt::format("{} senders to {}, but 'from' has only {} outside its host", traffic.fan_in, format(to), others));
}

// Each sender has a receiver of its own in another host exactly if (Hall 1935) none of its host's fellows are too many:
// two hosts together may send to all.
void check_permutation(const TrafficEnds& part, const Tree& said) {
  if (part.from.size() > part.to.size())
    said.fail(
        fmt::format("a permutation of {} senders over {} receivers; expected at least as many receivers as senders",
                    part.from.size(), part.to.size()));
  const NicsByHost from(part.from);
  const NicsByHost to(part.to);
  for (const auto& [host, count] : from.of())
    if (const std::size_t others = to.outside(host); count > others)
      said.fail(fmt::format(
          "a permutation needs a receiver for each sender: {} has {} senders, other hosts have {} receivers", host,
          count, others));
}

using Group = std::function<std::size_t(const PortName&)>;
using Pairs = std::vector<std::pair<PortName, PortName>>;

// Of each group the first NIC, and the first in another host than that.
std::map<std::size_t, std::vector<PortName>> by_group(const std::vector<PortName>& nics, const Group& group) {
  std::map<std::size_t, std::vector<PortName>> groups;
  for (const PortName& nic : nics) {
    std::vector<PortName>& known = groups[group(nic)];
    if (known.empty() || (known.size() == 1 && known[0].node != nic.node)) known.push_back(nic);
  }
  return groups;
}

bool add(const PortName& from, const PortName& to, Pairs& pairs) {
  if (from.node == to.node) return false;
  pairs.emplace_back(from, to);
  return true;
}

// One of any two groups, if they have one between two hosts.
void add_any_to_any(const TrafficEnds& part, const Group& group, Pairs& pairs) {
  const auto from_groups = by_group(part.from, group);
  for (const auto& [to_group, to] : by_group(part.to, group))
    for (const auto& [from_group, from] : from_groups)
      if (!add(from[0], to[0], pairs) && !(to.size() > 1 && add(from[0], to[1], pairs)) && from.size() > 1)
        add(from[1], to[0], pairs);
}

}  // namespace

std::vector<TrafficEnds> rails(const TrafficSpec& traffic, const TrafficEnds& ends) {
  if (traffic.pattern == Pattern::kPairs || traffic.pattern == Pattern::kFile) return {ends};
  const bool incast = traffic.pattern == Pattern::kIncast;
  const auto others = by_rail(incast ? ends.from : ends.to);
  std::vector<TrafficEnds> all;
  for (const auto& [rail, nics] : by_rail(incast ? ends.to : ends.from)) {
    const auto same = others.find(rail);
    const std::vector<PortName>& other = same != others.end() ? same->second : (incast ? ends.from : ends.to);
    all.push_back(incast ? TrafficEnds{other, nics} : TrafficEnds{nics, other});
  }
  return all;
}

Pairs possible_pairs(const TrafficSpec& traffic, const TrafficEnds& ends, const Group& group) {
  Pairs pairs;
  if (traffic.pattern == Pattern::kFile) {
    std::set<std::pair<std::size_t, std::size_t>> known;
    for (const ListedFlow& f : traffic.listed)
      if (known.emplace(group(f.from), group(f.to)).second) add(f.from, f.to, pairs);
    return pairs;
  }
  for (const TrafficEnds& part : rails(traffic, ends)) {
    if (traffic.pattern != Pattern::kPairs) {
      add_any_to_any(part, group, pairs);
      continue;
    }
    for (std::size_t i = 0; i < std::max(part.from.size(), part.to.size()); ++i)
      add(part.from[i % part.from.size()], part.to[i % part.to.size()], pairs);
  }
  return pairs;
}

namespace {

// Those that a file names. Only built-in hosts send, and those with an agent.
TrafficEnds listed_ends(const Lab& lab, const TrafficSpec& traffic, const Tree& said) {
  std::set<PortName> from;
  std::set<PortName> to;
  for (const ListedFlow& f : traffic.listed) {
    from.insert(f.from);
    to.insert(f.to);
  }
  for (const PortName& nic : from)
    if (!std::holds_alternative<std::monostate>(
            lab.find(nic.node)->nics[static_cast<std::size_t>(nic.port) - 1].attach) &&
        !(takes_agents(traffic) && lab.find(nic.node)->agent))
      said.at_or_self("file").fail(
          fmt::format("{} is attached and sends its own frames; expected hosts with built-in traffic", format(nic)));
  return {{from.begin(), from.end()}, {to.begin(), to.end()}};
}

}  // namespace

TrafficEnds find_ends(const Draft& draft, const TrafficSpec& traffic, const Tree& said) {
  check_selectors(draft.lab, traffic, said, true);
  if (traffic.pattern == Pattern::kFile) return listed_ends(draft.lab, traffic, said);
  check_selectors(draft.lab, traffic, said, false);
  const TrafficEnds ends{senders(draft.lab, traffic), receivers(draft.lab, traffic)};
  if (traffic.pattern == Pattern::kPairs) check_pairs(ends, said);
  if (possible_pairs(traffic, ends, [](const PortName&) { return std::size_t{0}; }).empty())
    said.fail("all senders would send to themselves; expected other hosts in 'to'");
  for (const TrafficEnds& part : rails(traffic, ends)) {
    if (traffic.pattern == Pattern::kIncast) check_fan_in(traffic, part, said);
    if (traffic.pattern == Pattern::kPermutation) check_permutation(part, said);
  }
  return ends;
}

}  // namespace railyard::spec
