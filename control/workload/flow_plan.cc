#include "control/workload/flow_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "control/spec/select.h"
#include "control/spec/value.h"
#include "control/workload/arrivals.h"
#include "dataplane/base/rng.h"

namespace railyard::workload {
namespace {

using spec::PortName;
using Pair = std::pair<PortName, PortName>;
using Nics = std::vector<PortName>;

// NICs by rail, that is by their number in the host.
std::map<int, Nics> by_rail(const Nics& nics) {
  std::map<int, Nics> rails;
  for (const PortName& n : nics) rails[n.port].push_back(n);
  return rails;
}

void pairs(const Nics& from, const Nics& to, std::vector<Pair>& out) {
  // As many of each: one to one. Otherwise the shorter list is gone through again and again.
  const std::size_t n = from.empty() || to.empty() ? 0 : std::max(from.size(), to.size());
  for (std::size_t i = 0; i < n; ++i) {
    const PortName& a = from[i % from.size()];
    const PortName& b = to[i % to.size()];
    if (a.node != b.node) out.emplace_back(a, b);
  }
}

void incast(const Nics& from, const Nics& to, int fan_in, std::vector<Pair>& out) {
  std::size_t next = 0;  // receivers take senders in turn, so that several incasts share them out
  for (const PortName& receiver : to) {
    Nics senders;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const PortName& s = from[(next + i) % from.size()];
      if (s.node == receiver.node) continue;
      senders.push_back(s);
      if (fan_in > 0 && senders.size() == static_cast<std::size_t>(fan_in)) {
        next = (next + i + 1) % from.size();
        break;
      }
    }
    std::sort(senders.begin(), senders.end(), [&](const PortName& a, const PortName& b) {
      return std::find(from.begin(), from.end(), a) < std::find(from.begin(), from.end(), b);
    });
    for (const PortName& s : senders) out.emplace_back(s, receiver);
  }
}

// Everybody sends to one and receives from one, at random, nobody from himself. Among themselves in one cycle (Sattolo
// 1986); from some to others by shuffling the receivers and exchanging where somebody would get himself.
void permutation(const Nics& from, Nics to, RngStream& rng, std::vector<Pair>& out) {
  const bool among_themselves = std::set(from.begin(), from.end()) == std::set(to.begin(), to.end());
  if (among_themselves) {
    to = from;
    for (std::size_t i = to.size(); i > 1; --i) std::swap(to[i - 1], to[rng.below(i - 1)]);
  } else {
    for (std::size_t i = to.size(); i > 1; --i) std::swap(to[i - 1], to[rng.below(i)]);
    const std::size_t n = std::min(from.size(), to.size());
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; from[i].node == to[i].node && j < to.size(); ++j)
        if (to[j].node != from[i].node && (j >= n || from[j].node != to[i].node)) std::swap(to[i], to[j]);
  }
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
    if (from[i].node != to[i].node) out.emplace_back(from[i], to[i]);
}

void all_to_all(const Nics& from, const Nics& to, std::vector<Pair>& out) {
  // In shifted rounds: in round k the i-th talks to the (i + k)-th.
  for (std::size_t k = 0; k < to.size(); ++k)
    for (std::size_t i = 0; i < from.size(); ++i)
      if (const PortName& b = to[(i + k) % to.size()]; from[i].node != b.node) out.emplace_back(from[i], b);
}

void random_pairs(const Nics& from, const Nics& to, int flows, RngStream& rng, std::vector<Pair>& out) {
  for (const PortName& a : from) {
    Nics others;
    std::copy_if(to.begin(), to.end(), std::back_inserter(others), [&](const PortName& b) { return b.node != a.node; });
    for (int f = 0; f < flows && !others.empty(); ++f) out.emplace_back(a, others[rng.below(others.size())]);
  }
}

std::vector<Pair> pairs_of(const spec::Lab& lab, const spec::TrafficSpec& t) {
  using Pattern = spec::TrafficSpec::Pattern;
  const Nics from = spec::senders(lab, t);
  const Nics to = spec::receivers(lab, t);
  std::vector<Pair> out;
  if (t.pattern == Pattern::kPairs) {
    pairs(from, to, out);
    return out;
  }
  RngStream rng(lab.run.seed, "traffic/" + t.name);
  const auto rails = by_rail(to);
  // Per rail of the receivers for incast, per rail of the senders else; without a counterpart, to all.
  if (t.pattern == Pattern::kIncast) {
    const auto senders = by_rail(from);
    for (const auto& [rail, receivers] : rails) {
      const auto same = senders.find(rail);
      incast(same != senders.end() ? same->second : from, receivers, t.fan_in, out);
    }
    return out;
  }
  for (const auto& [rail, senders] : by_rail(from)) {
    const auto same = rails.find(rail);
    const Nics& receivers = same != rails.end() ? same->second : to;
    switch (t.pattern) {
      case Pattern::kPermutation: permutation(senders, receivers, rng, out); break;
      case Pattern::kAllToAll: all_to_all(senders, receivers, out); break;
      default: random_pairs(senders, receivers, t.flows, rng, out); break;
    }
  }
  return out;
}

// Octets that a flow's size is a multiple of: the generator's payload is.
std::int64_t step_of(const spec::TrafficSpec& t) {
  return t.transport == spec::TrafficSpec::Transport::kGenerator ? 4 : 1;
}

// The receivers that each sender may draw, in the order of the senders.
std::vector<std::pair<PortName, Nics>> choices_of(const spec::Lab& lab, spec::TrafficSpec t) {
  // Of random, all that it could draw.
  if (t.pattern == spec::TrafficSpec::Pattern::kRandom) t.pattern = spec::TrafficSpec::Pattern::kAllToAll;
  std::vector<std::pair<PortName, Nics>> choices;
  std::map<PortName, std::size_t> index;
  for (const Pair& pair : pairs_of(lab, t)) {
    const auto [at, is_new] = index.try_emplace(pair.first, choices.size());
    if (is_new) choices.push_back({pair.first, {}});
    choices[at->second].second.push_back(pair.second);
  }
  return choices;
}

BitRate link_rate(const spec::Lab& lab, const PortName& nic) {
  for (const spec::LinkSpec& l : lab.links)
    if (l.a == nic || l.b == nic) return l.rate;
  return {};
}

// One flow of a traffic, before it has a number.
struct Arrival {
  Pair pair;
  std::optional<Bytes> bytes;
  std::optional<Duration> start;
};

// Each sender by itself, with a stream of its own; all in the order of time.
std::vector<Arrival> arrivals(const spec::Lab& lab, const spec::TrafficSpec& t) {
  const Duration until = t.stop ? *t.stop : *lab.run.duration;
  const double mean = t.sizes ? t.sizes->mean() : static_cast<double>(t.bytes.n);
  std::vector<Arrival> out;
  for (const auto& [source, receivers] : choices_of(lab, t)) {
    RngStream rng(lab.run.seed, "arrivals/" + t.name + "/" + spec::format(source));
    const double rate = static_cast<double>(link_rate(lab, source).bps) * static_cast<double>(t.load->numerator) /
                        static_cast<double>(t.load->denominator);
    const double mean_gap = mean * 8e12 / rate;
    for (Duration at = t.start + next_gap(rng, mean_gap); at < until; at = at + next_gap(rng, mean_gap)) {
      const PortName& sink = receivers[rng.below(receivers.size())];
      out.push_back({{source, sink}, t.sizes ? std::optional(draw_size(rng, *t.sizes, step_of(t))) : std::nullopt, at});
    }
  }
  std::ranges::stable_sort(out, {}, [](const Arrival& a) { return a.start->ps; });
  return out;
}

std::vector<Arrival> listed(const spec::TrafficSpec& t) {
  std::vector<Arrival> out;
  const std::int64_t step = step_of(t);
  for (const spec::ListedFlow& f : t.listed)
    out.push_back({{f.from, f.to}, Bytes{(f.bytes.n + step - 1) / step * step}, t.start + f.start});
  return out;
}

std::vector<Arrival> all_at_once(const spec::Lab& lab, const spec::TrafficSpec& t) {
  const int parallel = t.pattern == spec::TrafficSpec::Pattern::kRandom ? 1 : t.flows;
  RngStream rng(lab.run.seed, "sizes/" + t.name);
  std::vector<Arrival> out;
  for (const Pair& pair : pairs_of(lab, t))
    for (int k = 0; k < parallel; ++k) {
      out.push_back({pair, t.sizes ? std::optional(draw_size(rng, *t.sizes, step_of(t))) : std::nullopt, {}});
      if (t.bidirectional) out.push_back({{pair.second, pair.first}, out.back().bytes, {}});
    }
  return out;
}

std::vector<Arrival> flows_of(const spec::Lab& lab, const spec::TrafficSpec& t) {
  if (t.pattern == spec::TrafficSpec::Pattern::kFile) return listed(t);
  return t.load ? arrivals(lab, t) : all_at_once(lab, t);
}

}  // namespace

std::vector<FlowPlan> plan_flows(const spec::Lab& lab) {
  std::vector<FlowPlan> flows;
  const auto label = [&](const PortName& p) {
    const spec::NodeSpec* node = lab.find(p.node);
    return node->nics.size() == 1 ? p.node : fmt::format("{}:{}", p.node, p.port);
  };
  for (std::size_t t = 0; t < lab.traffic.size(); ++t) {
    const spec::TrafficSpec& traffic = lab.traffic[t];
    std::size_t index = 0;
    std::map<Pair, int> seen;
    for (Arrival& a : flows_of(lab, traffic)) {
      FlowPlan f;
      const int number = ++seen[a.pair];
      f.name = fmt::format("{}/{}->{}", traffic.name, label(a.pair.first), label(a.pair.second));
      if (number > 1) f.name += fmt::format("#{}", number);
      f.id = flows.size() + 1;
      f.traffic = t;
      f.index = index++;
      f.source = std::move(a.pair.first);
      f.destination = std::move(a.pair.second);
      f.bytes = a.bytes;
      f.start = a.start;
      flows.push_back(std::move(f));
    }
  }
  return flows;
}

}  // namespace railyard::workload
