// What presets of switches that are linked to each other have in common: hosts at the switches, links, coordinates.
#pragma once

#include <string>
#include <vector>

#include "control/spec/draw.h"
#include "control/spec/keys/keys.h"
#include "control/spec/presets/class_ladder.h"
#include "control/spec/presets/lab_maker.h"
#include "control/spec/presets/preset_keys.h"
#include "control/spec/presets/racks.h"
#include "control/spec/spec.h"

namespace railyard::spec {

struct Direct {
  int hosts_per_switch = 1;
  const Tree* host_link = nullptr;
  const Tree* fabric_link = nullptr;
  std::string switch_profile = "default";
  std::string host_profile = "default";
};

// The keys of all these, for a T that is a Direct.
template <class T>
std::vector<Key<T>> direct_keys() {
  return {link_key<T>("host-link", of<T>(&Direct::host_link), "links of hosts (default: defaults.link)"),
          link_key<T>("fabric-link", of<T>(&Direct::fabric_link), "links between switches (default: defaults.link)"),
          key("switch-profile", of<T>(&Direct::switch_profile), name_form(), "profile of the switches"),
          key("host-profile", of<T>(&Direct::host_profile), name_form(), "profile of the hosts"),
          racks_key<T>()};
}
template <class T>
Key<T> hosts_per_switch_key() {
  return key("hosts-per-switch", of<T>(&Direct::hosts_per_switch), integer(0, kMostPorts), "hosts at each switch (default: 1)");
}

// Of presets with rings.
template <class T>
Key<T> date_lines_key(bool T::*member) {
  return key("date-lines", member, boolean(),
             "where the switches have lossless classes: packets go one class up at the link that closes a ring, so "
             "that no deadlock is possible (default: true)");
}

// Makes switches s1, s2, ... with their hosts behind ports 1, 2, ..., then links between the ports behind these.
class DirectBuilder {
 public:
  DirectBuilder(const Tree& topology, const Direct& said, const LinkSpec& link, Lab& lab);

  // Refuses what is too large. `fabric_ports`: of a switch, to other switches.
  void check_size(std::int64_t switches, std::int64_t fabric_ports) const;
  // A switch; its number, from 0.
  std::size_t add_switch(std::vector<int> at);
  // All hosts, after all switches.
  void add_hosts();
  // Between two switches; ports from 1, those of hosts not counted.
  void link(std::size_t a, int port_a, std::size_t b, int port_b);
  // What the links are like from now on, other than so far.
  void use_link(const Tree& said) { link_keys().read(said, fabric_link_); }
  // What leaves a switch by such a port goes one class up.
  void step_up(const ClassLadder& ladder, std::size_t at_switch, int port);

 private:
  const Tree& topology_;
  const Direct& said_;
  LinkSpec host_link_;
  LinkSpec fabric_link_;
  Lab& lab_;
  LabMaker make_;
  std::size_t first_;
  std::size_t switches_ = 0;
};

// A grid of switches: along each dimension, those that differ in nothing else are a ring, or all linked to each other.
struct GridDimension {
  int size = 0;  // >= 2
  bool is_ring = true;
  // The ring has a link from its last switch to its first: its date line. Two switches have but one link.
  bool has_date_line() const noexcept { return is_ring && size > 2; }
};

// Switch x + X (y + Y z) is at [x, y, z]. `date_lines`: where the lab has lossless classes, they change at the date
// lines.
void expand_grid(const Tree& topology, const Direct& said, const LinkSpec& link, const std::vector<GridDimension>& grid,
                 bool date_lines, Lab& lab);

// The sizes of a grid.
Form<std::vector<int>> grid_size();

// The keys of a direct preset's links, drawn for random labs.
std::string drawn_direct_keys(Draw& draw);

}  // namespace railyard::spec
