// All BGP speakers of a fabric, and the messages between them: RFC 4271 as RFC 7938 uses it, with modelled times.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <queue>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "control/routing/bgp/as_paths.h"
#include "control/routing/bgp/ports.h"
#include "control/routing/protocol.h"

namespace railyard::routing::bgp {

// What one speaker tells another of an origin. What it is worth is told where classes use WCMP, as by the extended
// community of link bandwidth (draft-ietf-idr-link-bandwidth), cumulated; else 0.
struct Advert {
  PathId path = kNoPath;
  std::int64_t worth = 0;
  // Where paths are ordered (path_order.h), as communities: what comes before the length of the path.
  PathsTo::Rank rank = PathsTo::Rank::kInOrder;
  PathOrder::Suffix suffix = PathOrder::kEnd;
  bool operator==(const Advert&) const = default;
};

// Every link between switches has an eBGP session. A speaker takes the shortest AS paths, all of them (multipath), and
// tells every neighbour the one by its lowest port. A path through the neighbour's own AS is not told. Withdrawals
// and announcements are alike: the path for an origin, or none.
//
// Where paths are ordered (RoutingSpec::order), those in order are better than any other, then all through switches that
// are not drained; then the shortest. What a switch adds makes a path no better, so that there is always a rest (Sobrinho,
// "Network Routing with Path Vector Protocols", SIGCOMM 2003).
//
// What is at rest takes no memory: a speaker that waits for nothing has received what its neighbours have chosen, and
// what it has told them follows from its own choice. Only origins that a change concerns are kept in full, and until
// all is at rest again.
//
// DEVIATION: updates for any number of origins are one message, whose length does not matter; a session's first
// messages say what has been chosen when they arrive. Addresses of switches without hosts are announced with a number
// for each switch, whatever the scheme: spines that share one would not reach each other's loopbacks (as `allowas-in`
// has them do).
class Network final : public Protocol {
 public:
  Network(const spec::RoutingSpec& spec, const Graph& graph, const Routes& routes, Duration reaction);

  void port_changed(const PortChange& change) override;
  void drain(Instant at, std::size_t node, bool on) override;
  Instant next() const override { return events_.empty() ? Instant::never() : events_.top().at; }
  void run(Instant until, const std::function<void(TableChange)>& write) override;
  ProtocolCounters counters() const override { return counters_; }
  const Rib& rib(std::size_t node) const override { return ribs_[node]; }

  // The AS path that `node` announces for `origin`, from itself to the origin's; nothing: none.
  std::optional<std::vector<AsNumber>> announced(std::size_t node, std::size_t origin);
  // The number by which `node` takes part for `origin`.
  AsNumber as_of(std::size_t node, std::size_t origin) const noexcept {
    return of_transit_[origin] ? kFirstOfTransit + static_cast<AsNumber>(node) : as_[node];
  }

 private:
  struct Peer {
    std::size_t node;
    PortIndex port;       // of ours
    std::size_t reverse;  // which peer of theirs we are
    std::size_t link;
    Duration flight;  // of a message
    bool established = false;
    bool synced = false;            // we have received all that they have to say
    std::uint32_t session = 0;      // which one: messages of others are stale
    Instant may_send{};             // MRAI
    std::set<std::size_t> waiting;  // origins, until then
  };
  // Of one speaker for one origin, while not at rest.
  struct State {
    std::vector<Advert> received;  // by peer
    Advert told;
  };
  static constexpr std::uint32_t kNobody = 0xFFFF'FFFF;
  struct Speaker {
    // peers.size(): nobody.
    std::size_t peer_at(PortIndex port) const noexcept {
      const std::size_t i = port.index() < at.size() ? at[port.index()] : kNobody;
      return i == kNobody ? peers.size() : i;
    }
    std::vector<Peer> peers;        // by port
    std::vector<std::uint32_t> at;  // a port's place in `peers`; kNobody
    std::set<std::size_t> changed;  // origins to decide about
    bool decides = false;           // that is due
    bool drained = false;
  };
  using Update = std::pair<std::size_t, Advert>;  // by origin
  struct Event {
    enum class Kind : std::uint8_t { kNotice, kEstablish, kSync, kUpdate, kDecide, kFlush, kDrain };
    Instant at;
    std::uint64_t order;
    Kind kind;
    std::size_t node;
    std::size_t peer = 0;     // or a port: kNotice
    std::uint64_t token = 0;  // kNotice: which change; kEstablish, kSync, kUpdate: which session; kDrain: on
    std::vector<Update> updates = {};
    bool operator<(const Event& other) const noexcept {  // the earliest is on top
      return std::tie(other.at, other.order) < std::tie(at, order);
    }
  };

  void push(Instant at, Event::Kind kind, std::size_t node, std::size_t peer, std::uint64_t token,
            std::vector<Update> updates = {});
  void handle(const Event& event, const std::function<void(TableChange)>& write);

  void on_notice(const Event& event);
  void on_trunk(Instant now, std::size_t node, PortIndex port);
  void try_to_establish(Instant now, std::size_t node, std::size_t peer);
  void establish(Instant now, std::size_t node, std::size_t peer, std::uint64_t token);
  void close(Instant now, std::size_t node, std::size_t peer);
  void sync(Instant now, std::size_t node, std::size_t peer);
  void receive(Instant now, std::size_t node, std::size_t peer, const std::vector<Update>& updates);
  void to_decide(Instant now, std::size_t node, std::size_t origin);
  void decide(Instant now, std::size_t node, const std::function<void(TableChange)>& write);
  void tell(Instant now, std::size_t node, std::size_t peer, std::vector<Update> updates);
  void flush(Instant now, std::size_t node, std::size_t peer);

  // Whether it is one of those that the origin is behind, and can reach it.
  bool owns(std::size_t node, std::size_t origin) const;
  const std::vector<PortIndex>* own_ports(std::size_t node, std::size_t origin) const;
  // What it tells its neighbours, but for those whose AS is in it; and what it has from one.
  Advert told(std::size_t node, std::size_t origin);
  Advert received(std::size_t node, std::size_t peer, std::size_t origin);
  Advert for_peer(const Advert& advert, const Peer& peer, std::size_t origin) const noexcept {
    return paths_.contains(advert.path, as_of(peer.node, origin)) ? Advert{} : advert;
  }
  // Of an origin of its own; and the path through itself to whoever told it `path`.
  Advert of_owner(std::size_t node, std::size_t origin) {
    return {paths_.extend(as_of(node, origin), kEmptyPath), weighted_ ? kAnyWorth : 0};
  }
  PathId through(std::size_t node, std::size_t origin, PathId path);
  // What `node` thinks of that path, before it is its own: rank, length, suffix. The least is the best.
  using Preference = std::tuple<PathsTo::Rank, std::uint32_t, PathOrder::Suffix>;
  Preference preference(std::size_t node, const Peer& peer, const Advert& advert) const noexcept;
  // The path through itself to one that it has chosen, for its neighbours; worth nothing yet.
  Advert onward(std::size_t node, std::size_t origin, const Peer& peer, const Advert& advert);
  // What can be carried by way of a peer that has told `advert`.
  std::int64_t worth_of(const Peer& peer, const Advert& advert) const noexcept;
  // The best of what the peers have told: the ports, and what follows for the neighbours.
  std::pair<NextHopGroup, Advert> choose(std::size_t node, std::size_t origin, const std::vector<Advert>& received);
  State& state(std::size_t node, std::size_t origin);
  State* find(std::size_t node, std::size_t origin);

  spec::RoutingSpec spec_;
  const Graph& graph_;
  const Routes& routes_;
  Duration reaction_;
  bool weighted_;  // some class uses WCMP
  static constexpr AsNumber kFirstOfTransit = 4'250'000'000;
  std::vector<AsNumber> as_;      // by node
  std::vector<bool> of_transit_;  // origins: behind switches without hosts and trunks
  std::vector<Speaker> speakers_;
  Ports ports_;
  std::vector<Rib> ribs_;
  AsPaths paths_;
  std::unordered_map<std::uint64_t, State> states_;
  std::priority_queue<Event> events_;
  std::uint64_t pushed_ = 0;
  ProtocolCounters counters_;
};

}  // namespace railyard::routing::bgp
