// Routes for every switch: all shortest paths, as the next-hop groups that ECMP chooses from.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control/routing/announcements.h"
#include "control/routing/detours.h"
#include "control/routing/graph.h"
#include "dataplane/packet/fec_table.h"
#include "dataplane/switch/forwarding_table.h"

namespace railyard::routing {

// Ports that lead to an origin at equal cost, by number; none: nothing does.
struct NextHopGroup {
  std::vector<PortIndex> ports;
  std::vector<std::uint32_t> weights;  // for WCMP; none: all alike

  bool operator==(const NextHopGroup&) const = default;
  auto operator<=>(const NextHopGroup&) const = default;
};

// What one switch has chosen for every origin. Equal groups are kept once.
class Rib {
 public:
  explicit Rib(std::size_t origins) : of_(origins, 0), groups_(1), numbers_{{NextHopGroup{}, 0}} {}

  const NextHopGroup& group(std::size_t origin) const noexcept { return groups_[of_[origin]]; }
  // Groups by number, and which an origin has. Number 0 is the empty one.
  std::span<const NextHopGroup> groups() const noexcept { return groups_; }
  std::uint32_t number(std::size_t origin) const noexcept { return of_[origin]; }
  void set(std::size_t origin, const NextHopGroup& group);
  std::size_t origins() const noexcept { return of_.size(); }

 private:
  struct Hash {
    std::size_t operator()(const NextHopGroup& group) const noexcept;
  };

  std::vector<std::uint32_t> of_;
  std::vector<NextHopGroup> groups_;  // the first is empty
  std::unordered_map<NextHopGroup, std::uint32_t, Hash> numbers_;
  std::uint32_t last_ = 0;  // the group that was set last: mostly it is the next one, too
};

struct Routes {
  Announcements announced;
  std::vector<Rib> ribs;                 // by node; nothing in those of hosts
  std::shared_ptr<const FecTable> fecs;  // all prefixes of all switches
  std::vector<std::vector<Fec>> classes;   // by origin: of its prefixes
  std::shared_ptr<const Detours> detours;  // nullptr: nobody takes any

  // What `node` forwards by, as a list; with `rib` in the place of its own.
  std::vector<Route> table_of(std::size_t node) const { return table_of(node, ribs[node]); }
  std::vector<Route> table_of(std::size_t node, const Rib& rib) const;
  // The same, ready to forward by.
  ForwardingTable forwarding_of(std::size_t node) const;
};

// A link to a next hop, and what can be carried that way, in bit/s: the rate of the link, or, if that is less, the sum
// of what the neighbour's own next hops are worth (Zhou et al., EuroSys 2014, section 3).
struct Member {
  std::size_t link;
  std::int64_t worth;
};
// What an origin is worth at its owners.
inline constexpr std::int64_t kAnyWorth = std::numeric_limits<std::int64_t>::max();
// Weights for WCMP: what the members are worth, or, where any of the links has a weight, those of the links (1 for
// those without). None if all are alike.
std::vector<std::uint32_t> weights_of(const Graph& graph, const std::vector<Member>& members);

// The groups of all switches for one origin, over links that are up. Paths that are not in order (path_order.h) are used
// where there is no other, and paths through switches that are drained where there are not even these.
class PathsTo {
 public:
  static constexpr int kUnreached = -1;

  // The better ones first.
  enum class Rank : std::uint8_t { kInOrder, kOutOfOrder, kDrained };

  explicit PathsTo(const Graph& graph);
  PathsTo(const Graph& graph, const Origin& origin) : PathsTo(graph) { find(origin); }
  // Those of `origin`, in the place of what there was.
  void find(const Origin& origin);

  // In hops, to the nearest owner.
  // Where paths are ordered: of those that go on as it does.
  int distance(std::size_t node) const noexcept { return distance_[node]; }
  const std::vector<int>& distances() const noexcept { return distance_; }
  // Of an owner: its ports to trunks.
  const NextHopGroup& group(std::size_t node) const noexcept { return groups_[node]; }

 private:
  void forget();
  void find_owners(const Origin& origin);
  void find_distances();
  void find_in_order();
  void find_others(Rank rank);
  void add_group(std::size_t node);
  bool leads_on(std::size_t node, std::size_t neighbour) const;

  const Graph& graph_;
  std::vector<int> distance_;
  std::vector<std::size_t> nearest_first_;
  std::vector<NextHopGroup> groups_;
  std::vector<Member> members_;  // of the group that is being made
  std::vector<std::int64_t> through_;  // what can be carried by way of a node, in bit/s
  std::vector<bool> last_resort_;      // nodes that nothing but drained switches leads on from
  std::vector<Rank> rank_;                   // of the paths from a node; none where all paths are alike
  std::vector<PathOrder::Suffix> suffix_;    // the same
};

// Hop counts are the metric, as in the usual BGP design of a Clos (RFC 7938). Hosts are leaves of the graph: nothing is
// routed through them.
// `graph` outlives them where a class takes detours.
Routes shortest_paths(const Graph& graph);

}  // namespace railyard::routing
