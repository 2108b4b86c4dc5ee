#include "control/spec/presets/direct.h"

#include <utility>

#include <fmt/format.h>

#include "control/spec/presets/clos.h"

namespace railyard::spec {

DirectBuilder::DirectBuilder(const Tree& topology, const Direct& said, const LinkSpec& link, Lab& lab)
    : topology_(topology),
      said_(said),
      host_link_(link_like(link, said.host_link)),
      fabric_link_(link_like(link, said.fabric_link)),
      lab_(lab),
      make_(topology, lab),
      first_(lab.nodes.size()) {}

void DirectBuilder::check_size(std::int64_t switches, std::int64_t fabric_ports) const {
  check_most(topology_, switches, "switches", kMostSwitches);
  check_most(topology_, switches * said_.hosts_per_switch, "hosts", kMostHosts);
  check_most(topology_, fabric_ports + said_.hosts_per_switch, "ports of a switch", kMostPorts);
}

std::size_t DirectBuilder::add_switch(std::vector<int> at) {
  NodeSpec& node = make_.add_switch(fmt::format("s{}", switches_ + 1), "switch", said_.switch_profile);
  node.at = std::move(at);
  return switches_++;
}

void DirectBuilder::add_hosts() {
  for (std::size_t s = 0; s < switches_; ++s)
    for (int port = 1; port <= said_.hosts_per_switch; ++port) {
      const std::string host = fmt::format("h{}", static_cast<int>(s) * said_.hosts_per_switch + port);
      make_.add_host(host, 1, said_.host_profile);
      make_.add_link(host_link_, {host, 1}, {lab_.nodes[first_ + s].name, port});
    }
}

void DirectBuilder::link(std::size_t a, int port_a, std::size_t b, int port_b) {
  make_.add_link(fabric_link_, {lab_.nodes[first_ + a].name, said_.hosts_per_switch + port_a},
                 {lab_.nodes[first_ + b].name, said_.hosts_per_switch + port_b});
}

void DirectBuilder::step_up(const ClassLadder& ladder, std::size_t at_switch, int port) {
  ladder.step_up(lab_.nodes[first_ + at_switch], said_.hosts_per_switch + port);
}

void expand_grid(const Tree& topology, const Direct& said, const LinkSpec& link, const std::vector<GridDimension>& grid,
                 bool date_lines, Lab& lab) {
  DirectBuilder build(topology, said, link, lab);
  std::vector<int> first_port;  // by dimension
  std::int64_t switches = 1;
  int ports = 0;
  int crossings = 0;
  for (const GridDimension& d : grid) {
    first_port.push_back(ports + 1);
    ports += !d.is_ring ? d.size - 1 : d.size == 2 ? 1 : 2;
    switches *= d.size;
    crossings += d.has_date_line() ? 1 : 0;
    build.check_size(switches, ports);
  }
  if (grid.size() > 1 && !lab.routing.order) lab.routing.order = PathOrder::kDimensions;
  const ClassLadder ladder(topology, lab, said.switch_profile, said.host_profile, date_lines ? crossings : 0,
                           "date-lines: false");

  std::vector<std::vector<int>> at(static_cast<std::size_t>(switches), std::vector<int>(grid.size()));
  for (std::size_t s = 0; s < at.size(); ++s) {
    auto rest = static_cast<int>(s);
    for (std::size_t d = 0; d < grid.size(); rest /= grid[d++].size) at[s][d] = rest % grid[d].size;
    build.add_switch(at[s]);
  }
  build.add_hosts();
  std::size_t step = 1;  // between neighbours along the dimension
  for (std::size_t d = 0; d < grid.size(); ++d) {
    const int size = grid[d].size;
    for (std::size_t s = 0; s < at.size(); ++s) {
      const int here = at[s][d];
      const auto switch_at = [&](int coordinate) {
        return static_cast<std::size_t>(static_cast<std::ptrdiff_t>(s) +
                                        (coordinate - here) * static_cast<std::ptrdiff_t>(step));
      };
      if (!grid[d].is_ring) {
        for (int to = here + 1; to < size; ++to) build.link(s, first_port[d] + to - 1, switch_at(to), first_port[d] + here);
        continue;
      }
      if (here + 1 < size || grid[d].has_date_line())
        build.link(s, first_port[d], switch_at((here + 1) % size), first_port[d] + (size == 2 ? 0 : 1));
      if (!grid[d].has_date_line()) continue;
      if (here == size - 1) build.step_up(ladder, s, first_port[d]);
      if (here == 0) build.step_up(ladder, s, first_port[d] + 1);
    }
    step *= static_cast<std::size_t>(size);
  }
}

Form<std::vector<int>> grid_size() {
  static constexpr std::size_t kMostDimensions = 8;
  return checked<std::vector<int>>(list_of(integer(2, kMostSwitches)),
                                   [](const std::vector<int>& size) -> std::optional<std::string> {
                                     if (!size.empty() && size.size() <= kMostDimensions) return {};
                                     return fmt::format("found {} sizes; expected 1..{}, such as [4, 4]", size.size(),
                                                        kMostDimensions);
                                   });
}

std::string drawn_direct_keys(Draw& draw) {
  const DrawnRates rates(draw);
  return Text{"switch-profile: {}, host-link: {}, fabric-link: {}", draw.of({"default", "other"}),
              drawn_link(draw, rates.host_gbps, 10), drawn_link(draw, rates.fabric_gbps, 300)};
}

}  // namespace railyard::spec
