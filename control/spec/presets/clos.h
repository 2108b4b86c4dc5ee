// What presets of leaves under spines have in common: the links and how many spines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "control/spec/draw.h"
#include "control/spec/keys/keys.h"
#include "control/spec/presets/lab_maker.h"
#include "control/spec/presets/preset_keys.h"
#include "control/spec/presets/racks.h"
#include "control/spec/spec.h"

namespace railyard::spec {

struct Clos {
  std::optional<int> spines;
  std::optional<Ratio> oversubscription;
  int uplinks_per_spine = 1;
  const Tree* host_link = nullptr;
  const Tree* fabric_link = nullptr;
  std::string leaf_profile = "default";
  std::string spine_profile = "default";
  std::string host_profile = "default";
};

// The keys of all these, for a T that is a Clos.
template <class T>
std::vector<Key<T>> clos_keys() {
  return {key("spines", of<T>(&Clos::spines), integer(0, kMostSwitches), "number of spines"),
          key("oversubscription", of<T>(&Clos::oversubscription), ratio(),
              "instead of spines: total rate of a leaf's hosts / total rate of its uplinks; spines are rounded up"),
          key("uplinks-per-spine", of<T>(&Clos::uplinks_per_spine), integer(1, kMostPorts),
              "parallel links from each leaf to each spine"),
          link_key<T>("host-link", of<T>(&Clos::host_link), "links of hosts (default: defaults.link)"),
          link_key<T>("fabric-link", of<T>(&Clos::fabric_link), "links between leaves and spines (default: defaults.link)"),
          key("leaf-profile", of<T>(&Clos::leaf_profile), name_form(), "switch profile of the leaves"),
          key("spine-profile", of<T>(&Clos::spine_profile), name_form(), "switch profile of the spines"),
          key("host-profile", of<T>(&Clos::host_profile), name_form(), "profile of the hosts"),
          racks_key<T>()};
}

// Rates of links, as the random tester draws them; and from these the keys of a Clos.
struct DrawnRates {
  explicit DrawnRates(Draw& draw);
  int host_gbps;
  int fabric_gbps;
};
std::string drawn_clos_keys(Draw& draw, const DrawnRates& rates);
// A link of a preset, "{ rate: ..., cable: ... }".
std::string drawn_link(Draw& draw, int gbps, int most_metres);

// What follows from the keys of a Clos, and the making of its nodes and links.
class ClosBuilder {
 public:
  // `leaves` and, per leaf, at most `hosts_per_leaf` host ports.
  ClosBuilder(const Tree& topology, const Clos& said, const LinkSpec& link, int leaves, int hosts_per_leaf, Lab& lab);

  NodeSpec& add_leaf(std::string name);
  NodeSpec& add_host(std::string name, int nics);
  void link_host(PortName nic, PortName leaf_port);
  // Spines and the links to them: spine by spine at each leaf, behind its `host_ports[i]` host ports; leaf by leaf at
  // each spine.
  void add_spines();
  void link_spines(const std::vector<std::string>& leaves, const std::vector<int>& host_ports);

 private:
  const Clos& said_;
  LinkSpec host_link_;
  LinkSpec fabric_link_;
  int spines_ = 0;
  LabMaker make_;
};

}  // namespace railyard::spec
