#include "control/routing/bgp/network.h"

#include <algorithm>

#include "control/routing/bgp/as_numbers.h"
#include "dataplane/base/planted_bug.h"

namespace railyard::routing::bgp {
namespace {

// A drained switch says its number so often more to what is not behind it: paths through it are the last choice.
constexpr int kCostOut = 8;

bool uses_wcmp(const spec::Lab& lab) {
  return std::ranges::any_of(lab.qos, [](const auto& q) {
    return std::ranges::any_of(q.second.classes, [](const auto& c) { return c.path.policy == PathPolicy::kWcmp; });
  });
}

std::uint64_t state_key(std::size_t node, std::size_t origin) noexcept { return std::uint64_t{node} << 32 | origin; }

}  // namespace

Network::Network(const spec::RoutingSpec& spec, const Graph& graph, const Routes& routes, Duration reaction)
    : spec_(spec),
      graph_(graph),
      routes_(routes),
      reaction_(reaction),
      weighted_(uses_wcmp(graph.lab())),
      as_(as_numbers(graph, spec.as_numbers)),
      speakers_(graph.size()),
      ports_(graph, spec_),
      ribs_(routes.ribs) {
  for (std::size_t n = 0; n < graph.size(); ++n) {
    if (!graph.is_switch(n)) continue;
    for (const Graph::Edge& e : graph.edges(n))
      if (graph.is_switch(e.neighbour))
        speakers_[n].peers.push_back({.node = e.neighbour,
                                      .port = e.port,
                                      .reverse = 0,
                                      .link = e.link,
                                      .flight = graph.lab().links[e.link].delay + spec.message_delay,
                                      .established = true,
                                      .synced = true,
                                      .waiting = {}});
  }
  for (Speaker& s : speakers_)
    for (std::size_t i = 0; i < s.peers.size(); ++i) {
      const std::size_t port = s.peers[i].port.index();
      if (port >= s.at.size()) s.at.resize(port + 1, kNobody);
      s.at[port] = static_cast<std::uint32_t>(i);
    }
  for (const Origin& o : routes.announced.origins)
    of_transit_.push_back(std::ranges::all_of(graph.edges(o.owners.front().node),
                                              [&](const Graph::Edge& e) { return graph.is_switch(e.neighbour); }));
  for (Speaker& s : speakers_)
    for (Peer& p : s.peers) {
      const std::vector<Peer>& theirs = speakers_[p.node].peers;
      // Both ends of a link are its only peers with its number that are not the same end.
      const auto us = std::ranges::find_if(theirs, [&](const Peer& t) { return t.link == p.link && &t != &p; });
      p.reverse = static_cast<std::size_t>(us - theirs.begin());
    }
}

// ---- What is at rest ------------------------------------------------------------------------------------------------

const std::vector<PortIndex>* Network::own_ports(std::size_t node, std::size_t origin) const {
  for (const Origin::Owner& owner : routes_.announced.origins[origin].owners)
    if (owner.node == node) return &owner.ports;
  return nullptr;
}

bool Network::owns(std::size_t node, std::size_t origin) const {
  const std::vector<PortIndex>* ports = own_ports(node, origin);
  return ports != nullptr &&
         (ports->empty() || std::ranges::any_of(*ports, [&](PortIndex p) { return ports_.up(node, p); }));
}

Network::State* Network::find(std::size_t node, std::size_t origin) {
  const auto found = states_.find(state_key(node, origin));
  return found == states_.end() ? nullptr : &found->second;
}

Network::State& Network::state(std::size_t node, std::size_t origin) {
  if (State* known = find(node, origin)) return *known;
  State s{{}, told(node, origin)};
  for (std::size_t p = 0; p < speakers_[node].peers.size(); ++p) s.received.push_back(received(node, p, origin));
  return states_.emplace(state_key(node, origin), std::move(s)).first->second;
}

PathId Network::through(std::size_t node, std::size_t origin, PathId path) {
  if (path == kNoPath) return kNoPath;
  const AsNumber as = as_of(node, origin);
  for (int more = speakers_[node].drained ? kCostOut : 0; more > 0; --more) path = paths_.extend(as, path);
  return paths_.extend(as, path);
}

Network::Preference Network::preference(std::size_t node, const Peer& peer, const Advert& advert) const noexcept {
  const std::uint32_t length = paths_.length(advert.path);
  if (!graph_.order().any()) return {PathsTo::Rank::kInOrder, length, PathOrder::kEnd};
  if (advert.rank == PathsTo::Rank::kInOrder)
    if (const auto suffix = graph_.order().before(advert.suffix, node, peer.node))
      return {PathsTo::Rank::kInOrder, length, *suffix};
  return {std::max(advert.rank, PathsTo::Rank::kOutOfOrder), length, PathOrder::kEnd};
}

Advert Network::onward(std::size_t node, std::size_t origin, const Peer& peer, const Advert& advert) {
  const auto [rank, length, suffix] = preference(node, peer, advert);
  const bool costs = graph_.order().any() && speakers_[node].drained;
  return {through(node, origin, advert.path), 0, costs ? PathsTo::Rank::kDrained : rank, suffix};
}

std::int64_t Network::worth_of(const Peer& peer, const Advert& advert) const noexcept {
  const std::int64_t rate = graph_.lab().links[peer.link].rate.bps;
  return weighted_ ? std::min(rate, advert.worth) : rate;
}

std::pair<NextHopGroup, Advert> Network::choose(std::size_t node, std::size_t origin,
                                                const std::vector<Advert>& received) {
  std::pair<NextHopGroup, Advert> out;
  auto& [group, advert] = out;
  const std::vector<Peer>& peers = speakers_[node].peers;
  std::optional<Preference> best;
  for (std::size_t p = 0; p < received.size(); ++p) {
    if (received[p].path == kNoPath) continue;
    const Preference here = preference(node, peers[p], received[p]);
    if (!best || here < *best) best = here;
  }
  if (!best) return out;
  std::vector<Member> members;
  for (std::size_t p = 0; p < received.size(); ++p) {
    const Peer& peer = peers[p];
    if (received[p].path == kNoPath || preference(node, peer, received[p]) != *best) continue;
    if (group.ports.empty()) advert = onward(node, origin, peer, received[p]);
    group.ports.push_back(peer.port);
    members.push_back({peer.link, worth_of(peer, received[p])});
    if (weighted_) advert.worth += members.back().worth;
  }
  group.weights = weights_of(graph_, members);
  return out;
}

Advert Network::told(std::size_t node, std::size_t origin) {
  if (const State* s = find(node, origin)) return s->told;
  if (owns(node, origin)) return of_owner(node, origin);
  Advert advert;
  for (const PortIndex port : ribs_[node].group(origin).ports) {
    const Speaker& s = speakers_[node];
    const std::size_t peer = s.peer_at(port);
    if (peer == s.peers.size()) continue;
    const Advert from = received(node, peer, origin);
    if (advert.path == kNoPath) advert = onward(node, origin, s.peers[peer], from);
    if (!weighted_) break;
    advert.worth += worth_of(s.peers[peer], from);
  }
  return advert.path == kNoPath ? Advert{} : advert;
}

Advert Network::received(std::size_t node, std::size_t peer, std::size_t origin) {
  if (const State* s = find(node, origin)) return s->received[peer];
  const Peer& p = speakers_[node].peers[peer];
  if (!p.established || !p.synced) return {};
  return for_peer(told(p.node, origin), speakers_[p.node].peers[p.reverse], origin);
}

std::optional<std::vector<AsNumber>> Network::announced(std::size_t node, std::size_t origin) {
  const PathId path = told(node, origin).path;
  if (path == kNoPath) return std::nullopt;
  return paths_.numbers(path);
}

// ---- Events ---------------------------------------------------------------------------------------------------------

void Network::push(Instant at, Event::Kind kind, std::size_t node, std::size_t peer, std::uint64_t token,
                   std::vector<Update> updates) {
  events_.push({at, pushed_++, kind, node, peer, token, std::move(updates)});
}

void Network::port_changed(const PortChange& change) {
  const std::uint64_t token = ports_.changed(change.node, change.port, change.up);
  push(change.by_bfd ? change.at : change.at + spec_.carrier_delay, Event::Kind::kNotice, change.node, change.port.index(), token);
}

void Network::drain(Instant at, std::size_t node, bool on) { push(at, Event::Kind::kDrain, node, 0, on ? 1 : 0); }

void Network::run(Instant until, const std::function<void(TableChange)>& write) {
  while (next() < until) {
    const Event event = events_.top();
    events_.pop();
    handle(event, write);
  }
  if (events_.empty()) states_.clear();
}

void Network::handle(const Event& e, const std::function<void(TableChange)>& write) {
  switch (e.kind) {
    case Event::Kind::kNotice:
      return on_notice(e);
    case Event::Kind::kEstablish:
      return establish(e.at, e.node, e.peer, e.token);
    case Event::Kind::kSync:
      if (const Peer& p = speakers_[e.node].peers[e.peer]; p.established && p.session == e.token)
        sync(e.at, e.node, e.peer);
      return;
    case Event::Kind::kUpdate:
      if (const Peer& p = speakers_[e.node].peers[e.peer]; p.established && p.session == e.token)
        receive(e.at, e.node, e.peer, e.updates);
      return;
    case Event::Kind::kDecide:
      return decide(e.at, e.node, write);
    case Event::Kind::kFlush:
      return flush(e.at, e.node, e.peer);
    case Event::Kind::kDrain: {
      Speaker& s = speakers_[e.node];
      if (s.drained == (e.token != 0)) return;
      for (std::size_t o = 0; o < routes_.announced.origins.size(); ++o) {
        state(e.node, o);  // as it has been told
        to_decide(e.at, e.node, o);
      }
      s.drained = e.token != 0;
      return;
    }
  }
}

// ---- Sessions -------------------------------------------------------------------------------------------------------

void Network::on_notice(const Event& e) {
  const PortIndex port{static_cast<std::uint16_t>(e.peer)};
  const Ports::Result result = ports_.noticed(e.at, e.node, port, e.token);
  if (result.again != Instant::never()) push(result.again, e.kind, e.node, e.peer, e.token);
  if (result.notice == Ports::Notice::kNothing) return;
  const std::size_t number = speakers_[e.node].peer_at(port);
  if (number == speakers_[e.node].peers.size()) return on_trunk(e.at, e.node, port);
  if (result.notice == Ports::Notice::kDown)
    close(e.at, e.node, number);
  else
    try_to_establish(e.at, e.node, number);
}

// An owner of what is behind trunks may have lost it, or have it again. Hosts are nobody's to announce one by one.
void Network::on_trunk(Instant now, std::size_t node, PortIndex port) {
  for (std::size_t o = 0; o < routes_.announced.origins.size(); ++o) {
    const std::vector<PortIndex>* own = own_ports(node, o);
    if (own == nullptr || std::ranges::find(*own, port) == own->end()) continue;
    state(node, o);
    to_decide(now, node, o);
  }
}

void Network::try_to_establish(Instant now, std::size_t node, std::size_t peer) {
  const Peer& p = speakers_[node].peers[peer];
  if (!ports_.up(p.node, speakers_[p.node].peers[p.reverse].port)) return;  // the other end will
  push(now + spec_.session_setup, Event::Kind::kEstablish, node, peer, p.session);
}

void Network::establish(Instant now, std::size_t node, std::size_t peer, std::uint64_t token) {
  Peer& ours = speakers_[node].peers[peer];
  Peer& theirs = speakers_[ours.node].peers[ours.reverse];
  if (ours.established || ours.session != token || !ports_.up(node, ours.port) || !ports_.up(ours.node, theirs.port))
    return;
  for (Peer* p : {&ours, &theirs}) {
    p->established = true;
    p->synced = false;
    ++p->session;
    p->may_send = now;
    p->waiting.clear();
  }
  counters_.messages += 2;
  push(now + ours.flight, Event::Kind::kSync, node, peer, ours.session);
  push(now + ours.flight, Event::Kind::kSync, ours.node, ours.reverse, theirs.session);
}

void Network::close(Instant now, std::size_t node, std::size_t peer) {
  Speaker& s = speakers_[node];
  if (!s.peers[peer].established) {
    ++s.peers[peer].session;  // what was to be established is not
    return;
  }
  // What hangs on the peer is kept in full from now on: as it was told before.
  const std::size_t origins = routes_.announced.origins.size();
  for (std::size_t o = 0; o < origins; ++o) {
    const std::vector<PortIndex>& ports = ribs_[node].group(o).ports;
    if (std::ranges::find(ports, s.peers[peer].port) == ports.end()) continue;
    state(node, o);
    to_decide(now, node, o);
  }
  s.peers[peer].established = s.peers[peer].synced = false;
  ++s.peers[peer].session;
  s.peers[peer].waiting.clear();
  for (std::size_t o = 0; o < origins; ++o)
    if (State* kept = find(node, o)) kept->received[peer] = {};
}

void Network::sync(Instant now, std::size_t node, std::size_t peer) {
  Peer& p = speakers_[node].peers[peer];
  for (std::size_t o = 0; o < routes_.announced.origins.size(); ++o) {
    const Advert advert = for_peer(told(p.node, o), speakers_[p.node].peers[p.reverse], o);
    // Nothing new: worse than what there is, unless that is to be decided about anyway.
    const bool waits = speakers_[node].changed.contains(o);
    const std::vector<PortIndex>& ports = ribs_[node].group(o).ports;
    std::optional<Preference> best;
    const Speaker& s = speakers_[node];
    if (const std::size_t first = ports.empty() || waits ? s.peers.size() : s.peer_at(ports.front());
        first != s.peers.size())
      best = preference(node, s.peers[first], received(node, first, o));
    if (owns(node, o) || advert.path == kNoPath || (best && preference(node, p, advert) > *best)) {
      if (State* kept = find(node, o)) kept->received[peer] = advert;
      continue;
    }
    state(node, o).received[peer] = advert;
    to_decide(now, node, o);
  }
  p.synced = true;
}

// ---- Messages and decisions -----------------------------------------------------------------------------------------

void Network::receive(Instant now, std::size_t node, std::size_t peer, const std::vector<Update>& updates) {
  for (const auto& [origin, advert] : updates) {
    State& s = state(node, origin);
    if (s.received[peer] == advert) continue;
    if (planted(PlantedBug::kLostWithdrawal) && advert.path == kNoPath) continue;
    s.received[peer] = advert;
    to_decide(now, node, origin);
  }
}

void Network::to_decide(Instant now, std::size_t node, std::size_t origin) {
  Speaker& s = speakers_[node];
  s.changed.insert(origin);
  if (s.decides) return;
  s.decides = true;
  push(now + spec_.processing, Event::Kind::kDecide, node, 0, 0);
}

void Network::decide(Instant now, std::size_t node, const std::function<void(TableChange)>& write) {
  Speaker& s = speakers_[node];
  s.decides = false;
  ++counters_.decisions;
  TableChange change{now + std::max(spec_.fib_delay, reaction_), node, {}};
  std::vector<std::vector<Update>> to(s.peers.size());
  for (const std::size_t origin : std::exchange(s.changed, {})) {
    State& kept = state(node, origin);
    auto [group, advert] = choose(node, origin, kept.received);
    if (owns(node, origin)) {
      group = {*own_ports(node, origin), {}};
      advert = of_owner(node, origin);
    }
    const NextHopGroup& known = ribs_[node].group(origin);
    if (weighted_ ? group != known : group.ports != known.ports) {
      ribs_[node].set(origin, group);
      change.groups.emplace_back(origin, std::move(group));
    }
    const Advert before = kept.told;
    if (advert == before) continue;
    for (std::size_t p = 0; p < s.peers.size(); ++p) {
      const Peer& peer = s.peers[p];
      if (!peer.established || for_peer(advert, peer, origin) == for_peer(before, peer, origin)) continue;
      state(peer.node, origin);  // as it has received it before
      to[p].emplace_back(origin, for_peer(advert, peer, origin));
    }
    kept.told = advert;
  }
  for (std::size_t p = 0; p < s.peers.size(); ++p)
    if (!to[p].empty()) tell(now, node, p, std::move(to[p]));
  if (!change.groups.empty()) write(std::move(change));
}

void Network::tell(Instant now, std::size_t node, std::size_t peer, std::vector<Update> updates) {
  Peer& p = speakers_[node].peers[peer];
  if (now < p.may_send) {
    if (p.waiting.empty()) push(p.may_send, Event::Kind::kFlush, node, peer, 0);
    for (const Update& u : updates) p.waiting.insert(u.first);
    return;
  }
  p.may_send = now + spec_.mrai;
  ++counters_.messages;
  const Peer& theirs = speakers_[p.node].peers[p.reverse];
  push(now + p.flight, Event::Kind::kUpdate, p.node, p.reverse, theirs.session, std::move(updates));
}

void Network::flush(Instant now, std::size_t node, std::size_t peer) {
  Peer& p = speakers_[node].peers[peer];
  if (now < p.may_send) return;  // of another session
  std::vector<Update> updates;
  for (const std::size_t origin : std::exchange(p.waiting, {}))
    updates.emplace_back(origin, for_peer(told(node, origin), p, origin));
  if (p.established && !updates.empty()) tell(now, node, peer, std::move(updates));
}

}  // namespace railyard::routing::bgp
