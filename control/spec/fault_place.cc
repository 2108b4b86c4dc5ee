#include "control/spec/fault_place.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "control/spec/select.h"

namespace railyard::spec {
namespace {

constexpr int kMostPort = 8191;

std::unexpected<std::string> wrong(std::string what) { return std::unexpected(std::move(what)); }

// "leaf1:3/5" and parts of it.
std::optional<FaultPlace> parse_queue(std::string_view text) {
  FaultPlace place;
  if (const std::size_t slash = text.find('/'); slash != text.npos) {
    const auto c = parse_integer(text.substr(slash + 1), 0, 7);
    if (!c) return std::nullopt;
    place.traffic_class = static_cast<int>(*c);
    text = text.substr(0, slash);
  }
  if (const std::size_t colon = text.find(':'); colon != text.npos) {
    const auto port = parse_integer(text.substr(colon + 1), 1, kMostPort);
    if (!port) return std::nullopt;
    place.port = static_cast<int>(*port);
    text = text.substr(0, colon);
  }
  constexpr std::string_view kNode = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_*?";
  if (text.empty() || text.find_first_not_of(kNode) != text.npos) return std::nullopt;
  place.node = text;
  return place;
}

}  // namespace

Parsed<FaultPlace> parse_fault_place(std::string_view text) {
  const auto bad = [all = text] {
    return wrong(
        fmt::format("'{}' is not a place; expected a node, port, link, direction or queue: leaf1, spine*, "
                    "leaf1:3, leaf1:3 out, leaf1:3/5, rail 2",
                    all));
  };
  FaultPlace::Direction direction = FaultPlace::Direction::kBoth;
  if (text.ends_with(" in")) {
    direction = FaultPlace::Direction::kIn;
    text.remove_suffix(3);
  } else if (text.ends_with(" out")) {
    direction = FaultPlace::Direction::kOut;
    text.remove_suffix(4);
  }
  std::optional<FaultPlace> place;
  if (text.starts_with("rail ")) {
    const auto rail = parse_integer(text.substr(5), 1, 8);
    if (!rail) return bad();
    place = FaultPlace{.node = "*", .port = static_cast<int>(*rail), .is_rail = true};
  } else {
    place = parse_queue(text);
  }
  if (!place) return bad();
  place->direction = direction;
  return *place;
}

std::string format(const FaultPlace& p) {
  std::string text = p.is_rail ? fmt::format("rail {}", p.port) : p.node;
  if (!p.is_rail && p.port != 0) text += fmt::format(":{}", p.port);
  if (p.traffic_class >= 0) text += fmt::format("/{}", p.traffic_class);
  if (p.direction == FaultPlace::Direction::kIn) text += " in";
  if (p.direction == FaultPlace::Direction::kOut) text += " out";
  return text;
}

Parsed<FaultTrigger> parse_fault_trigger(std::string_view text) {
  const auto bad = [all = text] {
    return wrong(
        fmt::format("'{}' is not a state; expected e.g. queue leaf1:3/3 depth > 200KiB, or queue leaf1:3/3 "
                    "paused > 1ms",
                    all));
  };
  if (!text.starts_with("queue ")) return bad();
  text.remove_prefix(6);
  const std::size_t blank = text.find(' ');
  const std::size_t above = text.find(" > ");
  if (blank == text.npos || above == text.npos || above < blank) return bad();
  const std::optional<FaultPlace> queue = parse_queue(text.substr(0, blank));
  if (!queue || queue->port == 0 || queue->traffic_class < 0 || queue->node.find_first_of("*?") != std::string::npos)
    return bad();
  FaultTrigger t{.node = queue->node, .port = queue->port, .traffic_class = queue->traffic_class};
  const std::string_view what = text.substr(blank + 1, above - blank - 1);
  const std::string_view value = text.substr(above + 3);
  if (what == "depth") {
    const Parsed<Bytes> depth = parse_size(value);
    if (!depth) return wrong(depth.error());
    t.depth_above = *depth;
  } else if (what == "paused") {
    const Parsed<Duration> paused = parse_duration(value);
    if (!paused) return wrong(paused.error());
    t.paused_above = *paused;
  } else {
    return bad();
  }
  return t;
}

std::string format(const FaultTrigger& t) {
  return fmt::format("queue {}:{}/{} {} > {}", t.node, t.port, t.traffic_class, t.depth_above ? "depth" : "paused",
                     t.depth_above ? format(*t.depth_above) : format(*t.paused_above));
}

std::vector<const NodeSpec*> nodes_at(const Lab& lab, const FaultPlace& place) {
  std::vector<const NodeSpec*> nodes;
  for (const NodeSpec& n : lab.nodes)
    if (matches(place.node, n.name) && (!place.is_rail || n.kind == NodeSpec::Kind::kHost)) nodes.push_back(&n);
  return nodes;
}

std::vector<PortName> ports_at(const Lab& lab, const FaultPlace& place) {
  std::vector<PortName> ports;
  for (const NodeSpec* n : nodes_at(lab, place)) {
    const std::size_t first = ports.size();
    for (const LinkSpec& l : lab.links)
      for (const PortName& end : {l.a, l.b})
        if (end.node == n->name && (place.port == 0 || place.port == end.port)) ports.push_back(end);
    std::sort(ports.begin() + static_cast<std::ptrdiff_t>(first), ports.end());
  }
  return ports;
}

}  // namespace railyard::spec
