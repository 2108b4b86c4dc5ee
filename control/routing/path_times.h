// How long frames take on an empty fabric.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "control/routing/graph.h"
#include "control/spec/spec.h"
#include "dataplane/base/framing.h"
#include "dataplane/base/time.h"

namespace railyard::routing {

// By shortest paths.
class PathTimes {
 public:
  // Of several paths.
  enum class Which : std::uint8_t { kQuickest, kSlowest };

  // `lab` is expanded and valid, and outlives this.
  explicit PathTimes(const spec::Lab& lab);

  // From the first octet sent to the frame handed over at the other NIC, for a frame of so many octets (FCS included)
  // that waits nowhere. Nothing: there is no path.
  std::optional<Duration> one_way(const spec::PortName& from, const spec::PortName& to, int frame_octets,
                                  Which which = Which::kQuickest);

  // How many searches over the whole fabric that has taken: one for all switches that are alike (twin_of_).
  std::size_t searches() const noexcept { return ways_.size(); }

  // Of the NIC's link; without one 0, and Ethernet's.
  BitRate rate(const spec::PortName& nic) const;
  Framing framing(const spec::PortName& nic) const;

 private:
  // What a way adds: time whatever is sent, and time per octet where frames are stored before they go on.
  struct Way {
    double fixed_ps = 0;
    double ps_per_octet = 0;
    auto operator<=>(const Way&) const = default;
  };
  // Of all that have as many hops.
  struct Ways {
    int hops = 0;
    Way quickest, slowest;
  };
  struct Nic {
    std::size_t neighbour;
    const spec::LinkSpec& link;
  };
  std::optional<Nic> nic(const spec::PortName& name) const;
  // From the ingress of switch `from` to the ingress of node `to`; none: there is no way, or `to` is no switch.
  const std::optional<Ways>& between(std::size_t from, std::size_t to);
  // The same to each switch, by `place_`.
  const std::vector<std::optional<Ways>>& ways(std::size_t from);
  void find_twins();
  std::int64_t latency(std::size_t node) const;
  bool stores(std::size_t node) const;
  // On over the `link` that leaves `node`. A frame that is cut through does not wait to be there.
  Way beyond(const Way& way, std::size_t node, const spec::LinkSpec& link) const;

  static constexpr std::size_t kNowhere = ~std::size_t{0};

  const spec::Lab& lab_;
  routing::Graph graph_;
  std::map<std::size_t, std::vector<std::optional<Ways>>> ways_;
  std::vector<std::size_t> place_;  // by node: which switch it is, in order; kNowhere: none
  // By node: the first switch with the same latency, mode and neighbours, over links that are the same. The leaves of a
  // pod are such twins: with two of them in each other's place, a fabric is what it was.
  std::vector<std::size_t> twin_of_;
};

}  // namespace railyard::routing
