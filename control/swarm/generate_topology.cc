#include <fmt/format.h>

#include "control/spec/presets/preset.h"
#include "control/swarm/draw.h"
#include "control/swarm/generate.h"

namespace railyard::swarm {
namespace {

std::string link(Draw& draw, int gbps, int most_metres) {
  return fmt::format("{{ rate: {}Gbps, cable: {}m }}", gbps, draw.between(1, most_metres));
}

// Mostly Ethernet's; MACsec's; a model's whose headers are short.
std::string framing(Seed seed) {
  Draw draw(seed, "swarm/framing");
  if (!draw.percent(12)) return "";
  return draw.percent(50) ? ", framing: { preamble: 40 }" : ", framing: { preamble: -42, gap: 0 }";
}

// Mostly with the class changes that its lossless classes need against deadlock; else as the preset draws it.
std::string preset(Seed seed, Draw& draw, const spec::Preset& p) {
  std::string keys = p.draw(draw);
  const bool safe = Draw(seed, "swarm/class-change").percent(80);
  for (const std::string key : {"date-lines: ", "class-change: "})
    if (const std::size_t at = keys.find(key + "false"); safe && at != keys.npos)
      keys.replace(at, (key + "false").size(), key + "true");
  return fmt::format("topology: {{ preset: {}, {} }}\nnodes:\n  h2: {{ kind: host, profile: slow }}\n", p.name, keys);
}

struct Parts {
  struct Switch {
    std::string profile;
    int ports = 0;  // taken
    std::string vlans;
  };
  std::string nodes = "nodes:\n";
  std::string links = "links:\n";
  std::vector<Switch> switches;
  std::int64_t vlan = 0;  // of all hosts, and tagged between switches; 0: none is said

  void add_switch(Draw& draw) { switches.push_back({draw.of({"default", "other"}), 0, ""}); }
  std::string port(std::size_t s) { return fmt::format("s{}:{}", s + 1, ++switches[s].ports); }
  std::string port_to_host(std::size_t s) {
    const std::string name = port(s);
    if (vlan != 0)
      switches[s].vlans += fmt::format("{}{}: {{ native: {}, tagged: none }}", switches[s].vlans.empty() ? "" : ", ",
                                       switches[s].ports, vlan);
    return name;
  }
  void add_link(const std::string& a, const std::string& b, const std::string& keys) {
    links += fmt::format("  - [{}, {}, {}]\n", a, b, keys);
  }
  std::string text() const {
    std::string all = nodes;
    for (std::size_t s = 0; s < switches.size(); ++s)
      all += fmt::format("  s{}: {{ kind: switch, profile: {}{} }}\n", s + 1, switches[s].profile,
                         switches[s].vlans.empty() ? "" : fmt::format(", vlans: {{ {} }}", switches[s].vlans));
    return all + links;
  }
};

void add_hosts(Draw& draw, Parts& parts, int gbps, int per_switch) {
  int h = 0;
  for (std::size_t s = 0; s < parts.switches.size(); ++s)
    for (int i = 0; i < per_switch; ++i) {
      const bool dual = parts.switches.size() > 1 && draw.percent(15);
      parts.nodes += fmt::format("  h{}: {{ kind: host, profile: {}, nics: {} }}\n", ++h,
                                 draw.percent(15) ? "slow" : "default", dual ? 2 : 1);
      parts.add_link(fmt::format("h{}:1", h), parts.port_to_host(s), link(draw, gbps, 10));
      if (dual)
        parts.add_link(fmt::format("h{}:2", h), parts.port_to_host((s + 1) % parts.switches.size()),
                       link(draw, gbps, 10));
    }
}

// A ring; a row, with links in parallel, some of them bundles; a single switch.
std::string by_hand(Seed seed, Draw& draw, bool ring) {
  Draw bundles(seed, "swarm/bundles");
  Parts parts;
  const int gbps = draw.of({10, 25, 100, 100, 200});
  const int switches = static_cast<int>(ring ? draw.between(3, 6) : draw.between(1, 3));
  for (int s = 0; s < switches; ++s) parts.add_switch(draw);
  if (draw.percent(40)) parts.vlan = draw.between(2, 4094);
  add_hosts(draw, parts, gbps, static_cast<int>(ring ? draw.between(1, 3) : draw.between(8 / switches, 9 / switches)));
  for (int s = 0; s < (ring ? switches : switches - 1); ++s) {
    const auto a = static_cast<std::size_t>(s);
    const std::size_t b = (a + 1) % static_cast<std::size_t>(switches);
    const std::int64_t parallel = ring ? 1 : draw.between(1, 4);
    const bool bundled = bundles.percent(40);
    const int of_all = draw.of({gbps, gbps, 2 * gbps});
    for (std::int64_t n = parallel; n > 0; --n) {
      const std::string from = parts.port(a);
      std::string keys = link(draw, bundled ? of_all : draw.of({gbps, gbps, 2 * gbps}), 100);
      if (bundled) keys.insert(1, " bundle: auto,");
      parts.add_link(from, parts.port(b), keys);
    }
  }
  return parts.text();
}

}  // namespace

std::string random_topology(Seed seed, bool llr) {
  Draw draw(seed, "swarm/topology");
  const std::size_t kind = draw.below(100);
  std::string text = fmt::format("defaults: {{ link: {{ mtu: {}{}{} }} }}\n", draw.of({1500, 4200, 9216, 9216}),
                                 llr ? ", llr: on" : "", framing(seed));
  std::size_t below = 0;
  for (const spec::Preset& p : spec::presets())
    if (below += p.drawn_percent; kind < below) return text + preset(seed, draw, p);
  return text + by_hand(seed, draw, kind < 92);
}

bool changes_classes(Seed seed) {
  const std::string text = random_topology(seed, false);
  return text.find("date-lines: true") != text.npos || text.find("class-change: true") != text.npos;
}

}  // namespace railyard::swarm
