#include "control/hunt/space.h"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "control/spec/select.h"
#include "control/spec/value.h"

namespace railyard::hunt {
namespace {

using Transport = spec::TrafficSpec::Transport;

constexpr double kLongest = 10;  // x the time in which all data pass the slowest NIC
constexpr double kLeastSeconds = 1e-3;
constexpr std::size_t kMostAllToAll = 8, kMostParticipants = 32;

const spec::LinkSpec* link_of(const spec::Lab& lab, const std::string& nic) {
  for (const spec::LinkSpec& l : lab.links)
    if (spec::format(l.a) == nic || spec::format(l.b) == nic) return &l;
  return nullptr;
}

std::string switch_of(const spec::Lab& lab, const std::string& nic) {
  const spec::LinkSpec* l = link_of(lab, nic);
  return !l ? "" : spec::format(l->a) == nic ? l->b.node : l->a.node;
}

// One of each switch in turn.
std::vector<std::string> interleaved(const spec::Lab& lab, const std::vector<std::string>& nics) {
  std::vector<std::string> leaves;
  std::map<std::string, std::vector<std::string>> by_leaf;
  for (const std::string& n : nics) {
    auto& of_leaf = by_leaf[switch_of(lab, n)];
    if (of_leaf.empty()) leaves.push_back(switch_of(lab, n));
    of_leaf.push_back(n);
  }
  std::vector<std::string> out;
  for (std::size_t i = 0; out.size() < nics.size(); ++i)
    for (const std::string& leaf : leaves)
      if (i < by_leaf[leaf].size()) out.push_back(by_leaf[leaf][i]);
  return out;
}

// DSCPs of the lab's workload, then one of each other class that the default profile configures and does not serve
// strictly.
std::vector<std::string> dscps(const spec::Lab& lab) {
  std::vector<int> all;
  std::set<int> classes;
  const spec::QosProfile& qos = lab.qos.at("default");
  const auto add = [&](int dscp) {
    if (classes.insert(qos.class_of_untagged(dscp)).second) all.push_back(dscp);
  };
  for (const auto& t : lab.traffic) add(t.dscp);
  for (const auto& c : lab.collectives) add(c.dscp);
  for (int dscp = 0; dscp < 64; ++dscp) {
    const auto c = static_cast<std::size_t>(qos.class_of_untagged(dscp));
    if (!qos.classes[c].strict && qos.classes[c] != spec::TrafficClass{}) add(dscp);
  }
  if (all.empty()) all.push_back(0);
  std::vector<std::string> out;
  for (const int d : all) out.push_back(std::to_string(d));
  return out;
}

std::vector<std::string> transports(const spec::Lab& lab, const SpaceOptions& options) {
  std::set<Transport> used(options.transports.begin(), options.transports.end());
  if (used.empty()) {
    for (const auto& t : lab.traffic)
      if (t.has_messages()) used.insert(t.transport);
    for (const auto& c : lab.collectives) used.insert(c.is_uet() ? Transport::kUet : Transport::kRoce);
  }
  if (used.empty()) used.insert(Transport::kRoce);
  std::vector<std::string> out;
  if (used.contains(Transport::kRoce)) out.emplace_back("roce");
  if (used.contains(Transport::kUet)) out.emplace_back("uet");
  return out;
}

std::vector<std::string> counts_up_to(std::size_t most) {
  std::vector<std::string> out;
  for (std::size_t n = 2; n < most; n *= 2) out.push_back(std::to_string(n));
  out.push_back(std::to_string(most));
  return out;
}

double rate_of(const spec::Lab& lab, const std::string& nic) {
  const spec::LinkSpec* l = link_of(lab, nic);
  return l ? static_cast<double>(l->rate.bps) : 1e11;
}

}  // namespace

std::size_t Space::index_of(const std::vector<Feature>& features, std::string_view name) {
  const auto found = std::ranges::find(features, name, &Feature::name);
  return static_cast<std::size_t>(found - features.begin());
}

Space::Space(const spec::Lab& lab, const SpaceOptions& options) : lab_(lab), options_(options) {
  for (const spec::PortName& n : spec::rank_nics(lab, {"*"})) near_nics_.push_back(spec::format(n));
  if (near_nics_.size() < 2) throw std::invalid_argument("expected at least two built-in NICs, which send and receive");
  nics_ = interleaved(lab, near_nics_);
  std::set<std::string> switches;
  for (const spec::NodeSpec& n : lab.nodes)
    if (n.kind == spec::NodeSpec::Kind::kSwitch) switches.insert(n.name);
  for (const spec::LinkSpec& l : lab.links)
    if (switches.contains(l.a.node) && switches.contains(l.b.node)) inner_links_.push_back(spec::format(l.a));
  slowest_bps_ = rate_of(lab, nics_[0]);
  for (const std::string& n : nics_) slowest_bps_ = std::min(slowest_bps_, rate_of(lab, n));

  traffic_ = {
      {"pattern", {"pairs", "incast", "permutation", "all-to-all"}},
      {"hosts", counts_up_to(std::min(nics_.size(), kMostParticipants))},
      {"places", {"near", "far"}},
      {"first", nics_},
      {"dscp", dscps(lab)},
      {"transport", transports(lab, options)},
      {"operation", {"write", "send", "read"}},
      {"message", {"64KiB", "4KiB", "256B", "1MiB"}},
      {"bytes", {"256KiB", "64KiB", "1MiB", "4MiB"}},
      {"outstanding", {"4", "1", "16"}},
      {"qps", {"1", "4", "16"}},
      {"flows", {"1", "2", "4"}},
      {"rate", {"greedy", "1/2", "1/10"}},
      {"start", {"0us", "20us", "100us"}},
      {"stagger", {"0us", "1us", "10us"}},
  };
  std::vector<std::string> kinds{"rate", "loss", "receive", "straggle", "pfc-storm", "ignore-pause"};
  if (!inner_links_.empty()) kinds.insert(kinds.begin() + 1, {"down", "flap"});
  fault_ = {
      {"kind", kinds},
      {"place", nics_},
      {"severity", {"mild", "medium", "severe"}},
      {"at", {"0us", "20us", "100us"}},
      {"for", {"50us", "200us", "1ms"}},
  };
  fault_[1].choices.insert(fault_[1].choices.end(), inner_links_.begin(), inner_links_.end());
}

const std::string& Space::choice(const std::vector<Feature>& features, const Item& item, std::string_view name) const {
  const std::size_t f = index_of(features, name);
  return features[f].choices[item[f]];
}

// Those that take part, from `first` on; neighbours of the same switch or not.
std::vector<std::string> Space::nics_of(const Item& item) const {
  const bool is_near = choice(traffic_, item, "places") == "near";
  const std::vector<std::string>& order = is_near ? near_nics_ : nics_;
  std::size_t count = std::stoul(choice(traffic_, item, "hosts"));
  if (choice(traffic_, item, "pattern") == "all-to-all") count = std::min(count, kMostAllToAll);
  const auto first = std::ranges::find(order, choice(traffic_, item, "first"));
  const auto offset = static_cast<std::size_t>(first - order.begin());
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(order[(offset + i) % order.size()]);
  return out;
}

std::string Space::traffic_text(const Item& item, std::size_t number) const {
  const std::vector<std::string> nics = nics_of(item);
  const std::string& pattern = choice(traffic_, item, "pattern");
  std::vector<std::string> from = nics, to = nics;
  if (pattern == "incast") {
    from.assign(nics.begin() + 1, nics.end());
    to.assign(1, nics[0]);
  } else if (pattern == "pairs") {
    const auto half = static_cast<std::ptrdiff_t>(nics.size() / 2);
    from.assign(nics.begin(), nics.begin() + half);
    to.assign(nics.begin() + half, nics.begin() + 2 * half);
  }
  std::string text = fmt::format("{{ name: t{}, pattern: {}, from: [\"{}\"], to: [\"{}\"]", number, pattern,
                                 fmt::join(from, "\", \""), fmt::join(to, "\", \""));
  for (const char* key :
       {"dscp", "transport", "operation", "message", "bytes", "outstanding", "qps", "flows", "start", "stagger"})
    text += fmt::format(", {}: {}", key, choice(traffic_, item, key));
  if (const std::string& rate = choice(traffic_, item, "rate"); rate != "greedy")
    text += fmt::format(", rate: {:.0f}bps", slowest_bps_ / (rate == "1/2" ? 2 : 10));
  return text + " }";
}

std::string Space::fault_text(const Item& item, std::size_t number) const {
  const std::string& kind = choice(fault_, item, "kind");
  std::string place = choice(fault_, item, "place");
  const std::size_t severity = item[index_of(fault_, "severity")];
  const bool of_host = kind == "receive" || kind == "straggle" || kind == "pfc-storm" || kind == "ignore-pause";
  // A place that does not suit the kind stands for one that does.
  const std::size_t at = item[index_of(fault_, "place")];
  if (of_host && at >= nics_.size()) place = nics_[at % nics_.size()];
  if (!of_host && !inner_links_.empty() && kind != "rate" && kind != "loss" && at < nics_.size())
    place = inner_links_[at % inner_links_.size()];
  const double bps = rate_of(lab_, place);
  std::string effect;
  if (kind == "rate" || kind == "straggle")
    effect = fmt::format("{}: {}", kind, std::array{"1/2", "1/4", "1/10"}[severity]);
  if (kind == "loss") effect = fmt::format("loss: {}", std::array{"0.01%", "0.1%", "1%"}[severity]);
  if (kind == "receive") effect = fmt::format("receive: {:.0f}bps", bps / std::array{2, 4, 10}[severity]);
  if (kind == "down") effect = "down: true";
  if (kind == "flap")
    effect = fmt::format("flap: {{ down: {}, up: 20us }}", std::array{"5us", "20us", "50us"}[severity]);
  if (kind == "ignore-pause") effect = "ignore-pause: true";
  if (kind == "pfc-storm") {
    const int dscp = std::stoi(traffic_[index_of(traffic_, "dscp")].choices[0]);
    effect = fmt::format("pfc-storm: {}", lab_.qos.at("default").class_of_untagged(dscp));
  }
  return fmt::format("{{ name: f{}, on: \"{}\", at: {}, for: {}, {} }}", number, place, choice(fault_, item, "at"),
                     choice(fault_, item, "for"), effect);
}

double Space::flow_octets(const Item& item) const {
  const std::size_t n = nics_of(item).size();
  const std::string& pattern = choice(traffic_, item, "pattern");
  const std::size_t flows = pattern == "pairs"        ? n / 2
                            : pattern == "incast"     ? n - 1
                            : pattern == "all-to-all" ? n * (n - 1)
                                                      : n;
  return static_cast<double>(flows * std::stoul(choice(traffic_, item, "flows"))) *
         static_cast<double>(spec::parse_size(choice(traffic_, item, "bytes"))->n);
}

std::vector<std::string> Space::sets(const Case& c) const {
  std::vector<std::string> traffic, faults;
  double octets = 0;
  for (std::size_t i = 0; i < c.traffic.size(); ++i) {
    traffic.push_back(traffic_text(c.traffic[i], i + 1));
    octets += flow_octets(c.traffic[i]);
  }
  for (std::size_t i = 0; i < c.faults.size(); ++i) faults.push_back(fault_text(c.faults[i], i + 1));
  const double seconds = kLeastSeconds + kLongest * octets * 8 / slowest_bps_;
  return {fmt::format("traffic=[{}]", fmt::join(traffic, ", ")), fmt::format("faults=[{}]", fmt::join(faults, ", ")),
          fmt::format("run.duration={:.0f}us", seconds * 1e6)};
}

namespace {

Item draw_item(const std::vector<Feature>& features, spec::Draw& draw) {
  Item item;
  for (const Feature& f : features) item.push_back(draw.below(f.choices.size()));
  return item;
}

// Another choice of one feature that has any.
void vary(const std::vector<Feature>& features, Item& item, spec::Draw& draw) {
  for (;;) {
    const std::size_t f = draw.below(features.size());
    const std::size_t n = features[f].choices.size();
    if (n < 2) continue;
    item[f] = (item[f] + 1 + draw.below(n - 1)) % n;
    return;
  }
}

}  // namespace

Case Space::draw(spec::Draw& draw) const {
  Case c;
  const std::size_t traffic = 1 + draw.below(options_.most_traffic);
  for (std::size_t i = 0; i < traffic; ++i) c.traffic.push_back(draw_item(traffic_, draw));
  const std::size_t faults = draw.below(options_.most_faults + 1);
  for (std::size_t i = 0; i < faults; ++i) c.faults.push_back(draw_item(fault_, draw));
  return c;
}

Case Space::neighbour(const Case& from, spec::Draw& draw) const {
  constexpr unsigned kComesOrGoes = 20, kOfFaults = 35;  // in per cent
  Case c = from;
  const bool of_faults = options_.most_faults > 0 && draw.percent(kOfFaults);
  std::vector<Item>& items = of_faults ? c.faults : c.traffic;
  const std::vector<Feature>& features = of_faults ? fault_ : traffic_;
  const std::size_t most = of_faults ? options_.most_faults : options_.most_traffic;
  const std::size_t least = of_faults ? 0 : 1;
  if (items.empty() || (draw.percent(kComesOrGoes) && most > least)) {
    const bool comes = items.size() <= least || (items.size() < most && draw.percent(50));
    if (comes && items.size() < most)
      items.push_back(draw_item(features, draw));
    else
      items.erase(items.begin() + static_cast<std::ptrdiff_t>(draw.below(items.size())));
    return c;
  }
  // One step is often too small to be seen: sometimes two.
  Item& item = items[draw.below(items.size())];
  vary(features, item, draw);
  if (draw.percent(50)) vary(features, item, draw);
  return c;
}

}  // namespace railyard::hunt
