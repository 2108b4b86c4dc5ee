// What a hunt may vary: features of workloads and faults, each with a list of choices, the simplest first.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "control/spec/draw.h"
#include "control/spec/spec.h"

namespace railyard::hunt {

struct Feature {
  std::string name;                  // "pattern"
  std::vector<std::string> choices;  // "pairs", "incast", ...
};

// An index into the choices of each feature.
using Item = std::vector<std::size_t>;

// A workload and what goes wrong meanwhile.
struct Case {
  std::vector<Item> traffic;  // at least one
  std::vector<Item> faults;

  bool operator==(const Case&) const = default;
};

struct SpaceOptions {
  std::vector<spec::TrafficSpec::Transport> transports;  // empty: those of the file's workload; without any RoCE
  std::size_t most_traffic = 3;
  std::size_t most_faults = 1;
};

// All cases of one lab. Topology, switches, hosts, QoS and routing are the lab's.
class Space {
 public:
  // Throws std::invalid_argument: fewer than two built-in NICs.
  Space(const spec::Lab& lab, const SpaceOptions& options);

  const std::vector<Feature>& traffic_features() const noexcept { return traffic_; }
  const std::vector<Feature>& fault_features() const noexcept { return fault_; }
  const SpaceOptions& options() const noexcept { return options_; }

  Case draw(spec::Draw& draw) const;
  // One step away: a feature of an item has another choice, or an item comes or goes.
  Case neighbour(const Case& from, spec::Draw& draw) const;

  // Of an item by its number from 1, as a map of a fabric file in one line: "{ name: t1, pattern: incast, ... }".
  std::string traffic_text(const Item& item, std::size_t number) const;
  std::string fault_text(const Item& item, std::size_t number) const;
  // As --set has them: traffic, faults, and how long the run may take.
  std::vector<std::string> sets(const Case& c) const;

  // A choice, by the names of feature and choice; npos: there is none.
  static std::size_t index_of(const std::vector<Feature>& features, std::string_view name);

 private:
  const std::string& choice(const std::vector<Feature>& features, const Item& item, std::string_view name) const;
  std::vector<std::string> nics_of(const Item& item) const;
  double flow_octets(const Item& item) const;

  const spec::Lab& lab_;
  SpaceOptions options_;
  std::vector<std::string> nics_;         // in turn of the leaves, so that neighbours in the list are far apart
  std::vector<std::string> near_nics_;    // in the order of the file
  std::vector<std::string> inner_links_;  // between switches, by the port of one end
  double slowest_bps_ = 0;                // of NICs
  std::vector<Feature> traffic_, fault_;
};

}  // namespace railyard::hunt
