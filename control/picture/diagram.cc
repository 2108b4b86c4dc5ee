#include "control/picture/diagram.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "control/picture/collapse.h"
#include "control/picture/rails.h"
#include "control/picture/shape.h"
#include "control/picture/tiers.h"
#include "control/picture/words.h"
#include "control/routing/graph.h"

namespace railyard::picture {
namespace {

constexpr std::size_t kLongestName = 26;  // characters in a box
constexpr std::size_t kLongestLine = 30;
constexpr std::size_t kManyInARow = 12;  // boxes; then each has to be narrow

bool is_host(const spec::NodeSpec& node) { return node.kind == spec::NodeSpec::Kind::kHost; }

// The address that a NIC is called by.
std::string address_text(const spec::NicSpec& nic) {
  if (nic.address_v4) return to_string(*nic.address_v4);
  return nic.address_v6 ? to_string(*nic.address_v6) : "";
}

std::string addresses(const std::optional<wire::IpAddress>& v4, const std::optional<wire::IpAddress>& v6) {
  std::string text;
  if (v4) text += " " + to_string(*v4);
  if (v6) text += " " + to_string(*v6);
  return text;
}

class Builder {
 public:
  Builder(const spec::Lab& lab, Folding folding)
      : lab_(lab),
        graph_(lab),
        tiers_(tiers(graph_)),
        rails_(rails(graph_)),
        in_tiers_(shape_of(graph_) == Shape::kTiers),
        groups_(folding == Folding::kNone ? each_alone(graph_.size())
                : in_tiers_               ? collapse(graph_, tiers_)
                                          : hosts_together(graph_, tiers_)) {}

  Diagram build() {
    out_.name = lab_.name;
    out_.description = lab_.description;
    out_.rails = rails_.count;
    group_of_.resize(graph_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (const std::size_t n : groups_[g]) group_of_[n] = g;
    add_rows();
    narrow_ =
        std::any_of(out_.rows.begin(), out_.rows.end(), [](const Row& r) { return r.boxes.size() > kManyInARow; });
    for (const Group& g : groups_) out_.boxes.push_back(box(g));
    add_lines();
    out_.size = size_text();
    return std::move(out_);
  }

 private:
  static std::vector<Group> each_alone(std::size_t nodes) {
    std::vector<Group> groups(nodes);
    for (std::size_t n = 0; n < nodes; ++n) groups[n] = {n};
    return groups;
  }

  const spec::NodeSpec& node(std::size_t n) const { return lab_.nodes[n]; }

  Box box(const Group& group) const {
    Box b;
    b.is_host = is_host(node(group.front()));
    b.nodes = group.size();
    b.first = group.front();
    b.members = group;
    b.rail = rails_.of_node[group.front()];
    for (const std::size_t n : group)
      if (rails_.of_node[n] != b.rail) b.rail = kNoRail;
    std::vector<std::string> names;
    for (const std::size_t n : group) names.push_back(node(n).name);
    const std::string name = names_text(names);
    b.name = shortened(name, kLongestName);
    if (b.is_host)
      b.lines = group.size() == 1 ? host_lines(node(group.front())) : host_group_lines(group);
    else
      b.lines = group.size() == 1 ? switch_lines(node(group.front())) : switch_group_lines(group);
    b.detail = group.size() == 1 ? detail(node(group.front())) : name + ": " + b.lines.front().text;
    if (!in_tiers_) b.lines = {{b.is_host ? map_text(group) : place_text(node(group.front())), kNoRail}};
    for (TextLine& l : b.lines) l.text = shortened(l.text, kLongestLine);
    return b;
  }

  // What fits where switches are placed by their coordinates.
  std::string map_text(const Group& group) const {
    return group.size() == 1 ? address_text(node(group.front()).nics.front()) : counted(group.size(), "host", "hosts");
  }
  static std::string place_text(const spec::NodeSpec& node) { return fmt::format("[{}]", fmt::join(node.at, ", ")); }

  static std::vector<TextLine> host_lines(const spec::NodeSpec& host) {
    std::vector<TextLine> lines;
    const std::string first = attachment_text(host.nics.front().attach);
    const bool same = std::all_of(host.nics.begin(), host.nics.end(),
                                  [&](const auto& nic) { return attachment_text(nic.attach) == first; });
    if (same) lines.push_back({first, kNoRail});
    for (std::size_t i = 0; i < host.nics.size(); ++i) {
      const bool one = host.nics.size() == 1;
      std::string text = one ? "" : fmt::format("{}: ", i + 1);
      text += address_text(host.nics[i]);
      if (!same) text += " " + attachment_text(host.nics[i].attach);
      lines.push_back({std::move(text), one ? kNoRail : static_cast<int>(i) + 1});
    }
    return lines;
  }

  static std::vector<TextLine> switch_lines(const spec::NodeSpec& node) {
    std::vector<TextLine> lines;
    if (node.loopback_v4) lines.push_back({to_string(*node.loopback_v4), kNoRail});
    if (node.profile != "default") lines.push_back({"profile " + node.profile, kNoRail});
    return lines;
  }

  std::vector<TextLine> host_group_lines(const Group& group) const {
    std::set<std::string> rates;
    std::set<std::string> attached;
    std::set<std::size_t> nics;
    for (const std::size_t n : group) {
      nics.insert(node(n).nics.size());
      for (const routing::Graph::Edge& e : graph_.edges(n)) rates.insert(rate_text(lab_.links[e.link].rate));
      for (const spec::NicSpec& nic : node(n).nics) {
        const std::string text = attachment_text(nic.attach);
        attached.insert(text.substr(0, text.find(' ')));
      }
    }
    const std::string size = counted(group.size(), "host", "hosts");
    const std::string each = rates.size() != 1 || nics.size() != 1 ? ""
                             : *nics.begin() == 1                  ? fmt::format("{} each", *rates.begin())
                                                  : fmt::format("{} × {} each", *nics.begin(), *rates.begin());
    std::vector<TextLine> lines;
    if (narrow_) {
      lines.push_back({size, kNoRail});
      if (!each.empty()) lines.push_back({each, kNoRail});
    } else {
      lines.push_back({each.empty() ? size : size + ", " + each, kNoRail});
    }
    lines.push_back({fmt::format("{}", fmt::join(attached, ", ")), kNoRail});
    // Of a host with a NIC in each rail the addresses are too many; of the others the first and last say it.
    if (!narrow_ && nics.size() == 1 && *nics.begin() == 1)
      lines.push_back(
          {address_text(node(group.front()).nics.front()) + " … " + address_text(node(group.back()).nics.front()),
           kNoRail});
    return lines;
  }

  std::vector<TextLine> switch_group_lines(const Group& group) const {
    std::set<std::pair<std::size_t, std::size_t>> degrees;  // links down and up
    for (const std::size_t n : group) {
      std::pair<std::size_t, std::size_t> degree{0, 0};
      for (const routing::Graph::Edge& e : graph_.edges(n)) {
        if (tiers_[e.neighbour] < tiers_[n]) ++degree.first;
        if (tiers_[e.neighbour] > tiers_[n]) ++degree.second;
      }
      degrees.insert(degree);
    }
    std::vector<TextLine> lines{{counted(group.size(), "switch", "switches"), kNoRail}};
    if (degrees.size() != 1) return lines;
    const auto [down, up] = *degrees.begin();
    if (down > 0 && up > 0)
      lines.push_back({fmt::format("{} ports down, {} up each", down, up), kNoRail});
    else if (down + up > 0)
      lines.push_back({fmt::format("{} ports {} each", down + up, down > 0 ? "down" : "up"), kNoRail});
    return lines;
  }

  static std::string detail(const spec::NodeSpec& node) {
    std::string text = node.name;
    const std::string rack = node.rack.empty() ? "" : ", rack " + node.rack;
    if (!is_host(node)) {
      text += fmt::format(": switch{}, profile {}{}", node.role.empty() ? "" : ", role " + node.role, node.profile, rack);
      const std::string loopback = addresses(node.loopback_v4, node.loopback_v6);
      return loopback.empty() ? text : text + ", loopback" + loopback;
    }
    text += fmt::format(": host, profile {}{}", node.profile, rack);
    for (std::size_t i = 0; i < node.nics.size(); ++i) {
      const spec::NicSpec& nic = node.nics[i];
      text += fmt::format("\nNIC {}:{}", i + 1, addresses(nic.address_v4, nic.address_v6));
      if (nic.mac) text += " " + to_string(*nic.mac);
      text += ", " + attachment_text(nic.attach);
    }
    return text;
  }

  std::map<int, std::vector<std::size_t>, std::greater<>> nodes_by_tier() const {
    std::map<int, std::vector<std::size_t>, std::greater<>> out;
    for (std::size_t n = 0; n < graph_.size(); ++n) out[tiers_[n]].push_back(n);
    return out;
  }

  void add_rows() {
    out_.row_of.resize(groups_.size());
    std::map<int, std::size_t, std::greater<>> row_of_tier;
    const auto by_tier = nodes_by_tier();
    const std::size_t tiers_of_switches = by_tier.size() - by_tier.count(kHostTier);
    for (const auto& [tier, nodes] : by_tier) {
      const bool named = std::any_of(nodes.begin(), nodes.end(),
                                     [&](std::size_t n) { return tier_of_role(node(n).role).has_value(); });
      row_of_tier[tier] = out_.rows.size();
      out_.rows.push_back({tier_text(tier, nodes.size(), named, tiers_of_switches == 1), {}});
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::size_t row = row_of_tier[tiers_[groups_[g].front()]];
      out_.row_of[g] = row;
      out_.rows[row].boxes.push_back(g);
    }
  }

  void add_lines() {
    // Those of one box in the order of the lab's links.
    std::map<std::tuple<std::size_t, std::size_t, BitRate, int>, std::size_t> line_of;
    for (std::size_t i = 0; i < lab_.links.size(); ++i) {
      const spec::LinkSpec& l = lab_.links[i];
      const spec::PortName* a = &l.a;
      const spec::PortName* b = &l.b;
      std::size_t box_a = group_of_[graph_.node(a->node)];
      std::size_t box_b = group_of_[graph_.node(b->node)];
      if (std::pair(out_.row_of[box_b], box_b) < std::pair(out_.row_of[box_a], box_a)) {
        std::swap(a, b);
        std::swap(box_a, box_b);
      }
      const auto [it, is_new] = line_of.try_emplace({box_a, box_b, l.rate, rails_.of_link[i]}, out_.lines.size());
      if (is_new) {
        Line line;
        line.a = box_a;
        line.b = box_b;
        line.rate = l.rate;
        line.rail = rails_.of_link[i];
        line.single_nodes = out_.boxes[box_a].nodes == 1 && out_.boxes[box_b].nodes == 1;
        out_.lines.push_back(std::move(line));
      }
      Line& line = out_.lines[it->second];
      line.links.push_back(i);
      line.ports_a.push_back(a->port);
      line.ports_b.push_back(b->port);
    }
    // Links within one box are not drawn: what they are to show is inside.
    std::erase_if(out_.lines, [](const Line& l) { return l.a == l.b; });
    for (Line& l : out_.lines) l.detail = detail(l);
  }

  std::string detail(const Line& line) const {
    constexpr std::size_t kMost = 8;  // one by one
    if (line.links.size() > kMost)
      return fmt::format("{} links between {} and {}, {} each", line.links.size(), out_.boxes[line.a].name,
                         out_.boxes[line.b].name, rate_text(line.rate));
    std::string text;
    for (const std::size_t i : line.links) {
      const spec::LinkSpec& l = lab_.links[i];
      if (!text.empty()) text += "\n";
      text += fmt::format("{}:{} – {}:{}, {}, {}, MTU {}", l.a.node, l.a.port, l.b.node, l.b.port, rate_text(l.rate),
                          cable_text(l), l.mtu);
    }
    return text;
  }

  std::string size_text() const {
    std::string text;
    std::size_t nics = 0;
    std::size_t hosts = 0;
    for (const spec::NodeSpec& n : lab_.nodes) {
      nics += n.nics.size();
      if (is_host(n)) ++hosts;
    }
    for (const Row& row : out_.rows) text += (text.empty() ? "" : ", ") + row.name;
    if (nics > hosts) text += fmt::format(" with {} NICs", nics);
    return text + ", " + counted(lab_.links.size(), "link", "links");
  }

  const spec::Lab& lab_;
  const routing::Graph graph_;
  const std::vector<int> tiers_;
  const Rails rails_;
  const bool in_tiers_;
  const std::vector<Group> groups_;
  std::vector<std::size_t> group_of_;  // by node
  bool narrow_ = false;
  Diagram out_;
};

}  // namespace

Diagram diagram(const spec::Lab& lab, Folding folding) { return Builder(lab, folding).build(); }

}  // namespace railyard::picture
