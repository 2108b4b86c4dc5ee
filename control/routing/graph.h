// A lab's nodes and links as a graph.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "control/routing/path_order.h"
#include "control/spec/spec.h"
#include "dataplane/base/ids.h"

namespace railyard::routing {

// Nodes are numbered as in the lab; ports from 0.
class Graph {
 public:
  struct Edge {
    std::size_t neighbour;
    PortIndex port;  // here
    PortIndex neighbour_port;
    std::size_t link;  // in Lab::links
  };

  // `lab` is expanded and valid, and outlives the graph.
  explicit Graph(const spec::Lab& lab);

  const spec::Lab& lab() const noexcept { return *lab_; }
  std::size_t size() const noexcept { return edges_.size(); }
  std::size_t node(const std::string& name) const { return by_name_.at(name); }
  // The node's links, by port.
  const std::vector<Edge>& edges(std::size_t node) const noexcept { return edges_[node]; }
  bool is_switch(std::size_t node) const noexcept { return is_switch_[node] != 0; }
  bool is_host(std::size_t node) const noexcept { return lab_->nodes[node].kind == spec::NodeSpec::Kind::kHost; }
  bool is_trunk(std::size_t node) const noexcept { return lab_->nodes[node].kind == spec::NodeSpec::Kind::kTrunk; }
  // One more than the highest port that is linked.
  std::size_t ports(std::size_t node) const noexcept;

  // Which paths are preferred.
  const PathOrder& order() const noexcept { return order_; }

  // What a link carries in each direction, and its weight for WCMP, 1 for those that say none.
  std::int64_t bps(std::size_t link) const noexcept { return bps_[link]; }
  std::uint32_t weight(std::size_t link) const noexcept { return weights_.empty() ? 1 : weights_[link]; }
  // Whether any link says a weight.
  bool is_weighted() const noexcept { return !weights_.empty(); }
  bool says_weight(std::size_t link) const noexcept { return lab_->links[link].weight.has_value(); }

  // Whether a link carries frames: at first all do.
  bool is_up(std::size_t link) const noexcept { return up_[link]; }
  void set_up(std::size_t link, bool up) { up_[link] = up; }
  // Whether packets of others go through a switch only if there is no other way: at first through none.
  bool is_drained(std::size_t node) const noexcept { return drained_[node]; }
  void set_drained(std::size_t node, bool drained) { drained_[node] = drained; }

 private:
  const spec::Lab* lab_;
  PathOrder order_;
  std::unordered_map<std::string, std::size_t> by_name_;
  std::vector<std::vector<Edge>> edges_;
  // Of nodes and links what is asked for most, close together.
  std::vector<std::uint8_t> is_switch_;
  std::vector<std::int64_t> bps_;
  std::vector<std::uint32_t> weights_;  // none: no link says one
  std::vector<bool> up_;       // by link
  std::vector<bool> drained_;  // by node
};

}  // namespace railyard::routing
