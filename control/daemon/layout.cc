#include "control/daemon/layout.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "control/api/message.h"
#include "control/picture/layout.h"
#include "control/picture/rails.h"
#include "control/routing/graph.h"
#include "control/spec/fault_place.h"
#include "control/spec/faults/fault_kind.h"
#include "control/spec/reducers.h"
#include "control/spec/value.h"

namespace railyard::daemon {

using nlohmann::json;

namespace {

// To a tenth of a pixel.
double tenths(double value) { return std::round(value * 10) / 10; }

const char* word(spec::NodeSpec::Kind kind) {
  switch (kind) {
    case spec::NodeSpec::Kind::kSwitch:
      return "switch";
    case spec::NodeSpec::Kind::kHost:
      return "host";
    case spec::NodeSpec::Kind::kTrunk:
      return "trunk";
  }
  return "";
}

std::string text(const spec::PortName& port) { return port.node + ":" + std::to_string(port.port); }

json rect_json(const picture::Rect& r) { return {tenths(r.x), tenths(r.y), tenths(r.width), tenths(r.height)}; }

json nodes_json(const spec::Lab& lab, const picture::Diagram& d) {
  std::vector<std::size_t> box_of(lab.nodes.size());
  for (std::size_t b = 0; b < d.boxes.size(); ++b)
    for (const std::size_t n : d.boxes[b].members) box_of[n] = b;
  const routing::Graph graph(lab);
  const picture::Rails rails = picture::rails(graph);
  json out = json::array();
  for (std::size_t n = 0; n < lab.nodes.size(); ++n) {
    const spec::NodeSpec& node = lab.nodes[n];
    out.push_back({{"name", node.name},
                   {"kind", word(node.kind)},
                   {"role", node.role},
                   {"rack", node.rack},
                   {"profile", node.profile},
                   {"row", d.row_of[box_of[n]]},
                   {"rail", rails.of_node[n]},
                   {"nics", node.nics.size()},
                   {"box", box_of[n]}});
  }
  return out;
}

json lines_json(const picture::Diagram& d, const picture::Picture& p) {
  json out = json::array();
  for (std::size_t l = 0; l < d.lines.size(); ++l) {
    const picture::Line& line = d.lines[l];
    json strands = json::array();
    for (const auto& points : p.lines[l].strands) {
      json strand = json::array();
      for (const picture::Point& at : points) {
        strand.push_back(tenths(at.x));
        strand.push_back(tenths(at.y));
      }
      strands.push_back(std::move(strand));
    }
    out.push_back({{"a", line.a},
                   {"b", line.b},
                   {"links", line.links},
                   {"rail", line.rail},
                   {"arc", p.lines[l].is_arc},
                   {"strands", std::move(strands)}});
  }
  return out;
}

}  // namespace

json layout_json(const spec::Lab& whole, picture::Folding folding) {
  const spec::Lab lab = spec::without_reducers(whole);
  if (folding == picture::Folding::kNone && lab.nodes.size() > kMostUnfolded)
    throw api::ApiError(409, "the lab has " + std::to_string(lab.nodes.size()) + " nodes; at most " +
                                 std::to_string(kMostUnfolded) + " can be shown each by itself");
  const picture::Diagram d = picture::diagram(lab, folding);
  const picture::Picture p = picture::layout(d, lab, picture::Direction::kDown);
  json rows = json::array();
  for (const picture::Row& row : d.rows) rows.push_back({{"name", row.name}, {"boxes", row.boxes}});
  json boxes = json::array();
  for (std::size_t b = 0; b < d.boxes.size(); ++b) {
    const picture::Box& box = d.boxes[b];
    json lines = json::array();
    for (const picture::TextLine& line : box.lines) lines.push_back(line.text);
    boxes.push_back({{"name", box.name},
                     {"kind", word(lab.nodes[box.first].kind)},
                     {"rail", box.rail},
                     {"place", rect_json(p.boxes[b].place)},
                     {"lines", std::move(lines)},
                     {"detail", box.detail},
                     {"nodes", box.members}});
  }
  const routing::Graph graph(lab);
  const picture::Rails rails = picture::rails(graph);
  json links = json::array();
  for (std::size_t l = 0; l < lab.links.size(); ++l)
    links.push_back({{"a", text(lab.links[l].a)},
                     {"b", text(lab.links[l].b)},
                     {"rate_bps", lab.links[l].rate.bps},
                     {"rail", rails.of_link[l]}});
  json bands = json::array();
  for (const picture::Rect& r : p.bands) bands.push_back(rect_json(r));
  return {{"name", lab.name},
          {"description", lab.description},
          {"size", d.size},
          {"folded", std::ranges::any_of(d.boxes, [](const auto& b) { return b.members.size() > 1; })},
          {"can_unfold", lab.nodes.size() <= kMostUnfolded},
          {"width", tenths(p.width)},
          {"height", tenths(p.height)},
          {"rails", d.rails},
          {"rows", std::move(rows)},
          {"bands", std::move(bands)},
          {"nodes", nodes_json(lab, d)},
          {"links", std::move(links)},
          {"boxes", std::move(boxes)},
          {"lines", lines_json(d, p)}};
}

namespace {

const char* scope_of(const std::string& what) {
  for (const spec::FaultKind& kind : spec::fault_kinds()) {
    if (kind.key != what && kind.name != what) continue;
    using enum spec::FaultScope;
    switch (kind.scope) {
      case kLink:
        return "link";
      case kPort:
      case kSwitchPort:
      case kQueue:
        return "port";
      case kSwitch:
        return "switch";
      case kHost:
      case kNic:
        return "host";
    }
  }
  return "link";
}

}  // namespace

json touched_json(const spec::Lab& lab, const std::string& on, const std::string& what) {
  std::set<std::string> nodes;
  std::set<std::size_t> links;
  std::map<spec::PortName, std::size_t> link_at;
  for (std::size_t l = 0; l < lab.links.size(); ++l) link_at[lab.links[l].a] = link_at[lab.links[l].b] = l;
  for (std::size_t begin = 0; begin < on.size();) {
    std::size_t end = on.find(", ", begin);
    if (end == on.npos) end = on.size();
    if (const auto place = spec::parse_fault_place(on.substr(begin, end - begin))) {
      if (place->port == 0 && !place->is_rail)
        for (const spec::NodeSpec* node : spec::nodes_at(lab, *place)) nodes.insert(node->name);
      for (const spec::PortName& port : spec::ports_at(lab, *place))
        if (const auto found = link_at.find(port); found != link_at.end()) links.insert(found->second);
    }
    begin = end + 2;
  }
  return {{"scope", scope_of(what)}, {"nodes", nodes}, {"links", links}};
}

}  // namespace railyard::daemon
