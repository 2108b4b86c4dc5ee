#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "control/swarm/draw.h"
#include "control/swarm/generate.h"
#include "dataplane/switch/path/policies.h"

namespace railyard::swarm {
namespace {

std::string ecn(Draw& draw, bool lossless) {
  if (draw.percent(10)) return "auto";
  const std::int64_t kmin = draw.between(0, 100);
  return Text{"{{ kmin: {}KB, kmax: {}KB, pmax: {}%, mark: {}{} }}",
              kmin,
              kmin + draw.between(0, 200),
              draw.between(1, 100),
              draw.of({"enqueue", "dequeue"}),
              !lossless && draw.percent(30) ? ", drop-not-ect: true" : ""};
}

std::string drawn(Draw& draw, const PathParameter& p) {
  const std::int64_t n = draw.between(p.drawn_least, p.drawn_most);
  switch (p.kind) {
    case PathParameter::Kind::kDuration:
      return fmt::format("{}ps", n);
    case PathParameter::Kind::kNumber:
      return fmt::format("{}", n);
    case PathParameter::Kind::kYesNo:
      return n != 0 ? "true" : "false";
    case PathParameter::Kind::kWord:
      return std::string(p.words[static_cast<std::size_t>(n)]);
    case PathParameter::Kind::kWeight:
      return fmt::format("1/{}", 1 << n);
  }
  return "";
}

// A policy with some of its settings; those that need others, only with them.
std::string path(Draw& draw) {
  if (draw.percent(30)) return "ecmp";
  const PathPolicyInfo& policy = kPathPolicies[draw.below(std::size(kPathPolicies))];
  std::string text = fmt::format("{{ policy: {}", policy.name);
  std::set<std::string_view> there;
  for (const PathParameter& p : policy.parameters) {
    const bool said = draw.percent(50);
    const std::string value = drawn(draw, p);
    if (!said || (!p.needs.empty() && !there.contains(p.needs))) continue;
    text += fmt::format(", {}: {}", p.key, value);
    if (value != "false" && (p.kind != PathParameter::Kind::kWord || value != p.words[0])) there.insert(p.key);
  }
  return text + " }";
}

struct Shape {
  std::array<bool, 8> lossless{};
  std::array<bool, 8> cbfc{};       // of those, the ones with credits
  std::array<int, 8> trimmed_to{};  // class, or -1
  int remapped = -1;                // class whose frames leave in another, none of them lossless; -1: there is none
  int remapped_to = -1;
};

// Classes without settings, where lossless ones are to change on the way.
constexpr bool is_left(std::size_t c) noexcept { return c == 1 || c == 2; }

// What the profiles of a lab agree on: senders and receivers of a link see the same classes.
Shape random_shape(Seed seed, bool leaves_room) {
  Draw draw(seed, "swarm/classes");
  Shape shape;
  shape.lossless[3] = !draw.percent(5);
  for (const std::size_t c : {0u, 1u, 4u, 5u}) shape.lossless[c] = draw.percent(15) && !leaves_room;
  Draw credits(seed, "swarm/cbfc");
  const bool any = credits.percent(40);
  for (std::size_t c = 0; c < 8; ++c) shape.cbfc[c] = credits.percent(60) && any && shape.lossless[c];
  // Of code points 8c to 8c + 7 a frame is of class c.
  for (std::size_t c = 0; c < 8; ++c) {
    const std::size_t to = draw.below(8);
    const bool trims = draw.percent(25);
    shape.trimmed_to[c] = trims && !shape.lossless[c] && !shape.lossless[to] && to != c &&
                                  !(leaves_room && (is_left(c) || is_left(to)))
                              ? static_cast<int>(to)
                              : -1;
  }
  const auto from = static_cast<int>(draw.below(8));
  const auto to = static_cast<int>(draw.below(8));
  if (draw.percent(90) && from != to && !leaves_room && !shape.lossless[static_cast<std::size_t>(from)] &&
      !shape.lossless[static_cast<std::size_t>(to)]) {
    shape.remapped = from;
    shape.remapped_to = to;
  }
  return shape;
}

std::string traffic_class(Seed seed, const char* profile, std::size_t c, const Shape& shape) {
  Draw draw(seed, fmt::format("swarm/qos/{}/{}", profile, c));
  const bool lossless = shape.lossless[c];
  std::string text = fmt::format("      {}: {{ lossless: {}", c, lossless);
  const std::string alpha = draw.of({"1/32", "1/16", "1/8", "1/4", "1", "8"});
  const std::int64_t xoff = draw.between(20, 150);
  if (lossless) {
    text += draw.percent(50) ? ", alpha: " + alpha : fmt::format(", xoff: {}KB, xon-offset: {}KB", xoff, xoff / 2);
    if (draw.percent(4)) text += fmt::format(", headroom: {}KB, accept-loss: true", draw.between(5, 40));
    if (shape.cbfc[c]) {
      Draw credits(seed, fmt::format("swarm/cbfc/{}/{}", profile, c));
      const std::int64_t sync = credits.between(5, 50);  // draws in an order: that of arguments is a compiler's own
      text += fmt::format(", cbfc: {{ sync: {}us{} }}", sync,
                          credits.percent(30) ? fmt::format(", update: {}B", credits.between(1, 20'000)) : "");
    }
  } else {
    text += ", alpha: " + draw.of<std::string>({"1/8", "1", "8"}) + ", queue-alpha: " + alpha;
    if (draw.percent(30)) text += fmt::format(", queue-reserved: {}KB", draw.between(1, 20));
    if (shape.trimmed_to[c] >= 0)
      text += Text{", trim: {{ keep: {}B, dscp: {}, class: {} }}", draw.between(96, 1000),
                   8 * shape.trimmed_to[c] + draw.between(0, 7), shape.trimmed_to[c]};
  }
  Draw pfc(seed, fmt::format("swarm/pfc/{}/{}", profile, c));
  Draw wred(seed, fmt::format("swarm/drop/{}/{}", profile, c));
  if (wred.percent(8) && !lossless) {
    const std::int64_t min = wred.between(0, 100);
    text += Text{", drop: {{ min: {}KB, max: {}KB, probability: {}%{} }}", min, min + wred.between(0, 200),
                 wred.between(1, 100), wred.of({"", ", not-ect: { min: 1KB, max: 9KB }"})};
  }
  if (pfc.percent(4) && !shape.cbfc[c]) text += Text{", pfc: {}", pfc.of({"on", "off", "rx", "tx"})};
  if (draw.percent(30)) text += fmt::format(", reserved: {}KB", draw.between(1, 20));
  if (draw.percent(70)) text += ", ecn: " + ecn(draw, lossless);
  if (shape.remapped == static_cast<int>(c)) text += fmt::format(", remap-to: {}", shape.remapped_to);
  text += draw.percent(15) ? std::string(", strict: true") : fmt::format(", weight: {}", draw.between(1, 100));
  return text + ", path: " + path(draw) + " }\n";
}

}  // namespace

std::string random_qos(Seed seed) {
  const bool leaves_room = changes_classes(seed);
  const Shape shape = random_shape(seed, leaves_room);
  const bool pcp = Draw(seed, "swarm/trust").percent(10);
  std::string text = "qos:\n";
  for (const char* profile : {"default", "other"}) {
    text += fmt::format("  {}:\n{}    classes:\n", profile, pcp ? "    trust: pcp\n" : "");
    for (std::size_t c = 0; c < 8; ++c)
      if (!leaves_room || !is_left(c)) text += traffic_class(seed, profile, c, shape);
  }
  return text;
}

}  // namespace railyard::swarm
