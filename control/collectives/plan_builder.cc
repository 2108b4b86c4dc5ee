#include "control/collectives/plan_builder.h"

#include <algorithm>
#include <set>
#include <utility>

namespace railyard::collectives {

std::vector<Range> split(Range range, std::uint64_t parts, std::uint32_t element) {
  const std::uint64_t elements = range.octets / element;
  std::vector<Range> out;
  std::uint64_t at = range.offset;
  for (std::uint64_t i = 0; i < parts; ++i) {
    const std::uint64_t octets = (elements / parts + (i < elements % parts ? 1 : 0)) * element;
    out.push_back({at, octets});
    at += octets;
  }
  return out;
}

PlanBuilder::PlanBuilder(std::uint32_t ranks, std::uint64_t data_octets, std::uint32_t chunk, bool reduces,
                         const std::vector<Duration>& reducers)
    : chunk_(chunk),
      programs_(ranks + reducers.size()),
      writers_(programs_.size()),
      after_(programs_.size()),
      connections_(programs_.size()) {
  for (std::uint32_t r = 0; r < programs_.size(); ++r) {
    RankProgram& p = programs_[r];
    p.rank = r;
    p.ranks = ranks;
    p.data_octets = data_octets;
    p.reduces = reduces;
    if (r >= ranks) p.reducer_latency = reducers[r - ranks];
  }
}

void PlanBuilder::add_input(std::uint32_t rank, Range range) {
  programs_[rank].inputs.push_back({range.offset, range.octets, rank, range.offset});
}

void PlanBuilder::transfer(std::uint32_t from, std::uint32_t to, std::uint32_t channel, Range range, std::uint64_t at,
                           CollectiveStep::Kind kind) {
  for (std::uint64_t done = 0; done < range.octets; done += chunk_) {
    const Range piece{range.offset + done, std::min<std::uint64_t>(chunk_, range.octets - done)};
    message(from, to, channel, piece, at + done, kind, piece);
  }
}

void PlanBuilder::set_places(std::vector<std::uint32_t> host, std::vector<std::uint32_t> rail,
                             std::vector<std::uint32_t> tray, bool relays) {
  host_ = std::move(host);
  rail_ = std::move(rail);
  tray_ = std::move(tray);
  for (std::uint32_t r = 0; relays && r < rail_.size(); ++r) relays_.try_emplace(at(r, rail_[r]), r);
}

std::optional<std::uint32_t> PlanBuilder::relay_of(std::uint32_t from, std::uint32_t to) const {
  if (relays_.empty() || std::max(from, to) >= rail_.size() || host_[from] == host_[to] || rail_[from] == rail_[to]) return std::nullopt;
  const auto found = relays_.find(at(from, rail_[to]));
  if (found == relays_.end()) return std::nullopt;
  return found->second;
}

void PlanBuilder::message(std::uint32_t from, std::uint32_t to, std::uint32_t channel, Range range, std::uint64_t at,
                          CollectiveStep::Kind kind, Range waits_for) {
  // It waits for everything that its octets come from, once each.
  Writers& writers = writers_[from];
  cut(writers, waits_for.offset);
  cut(writers, waits_for.end());
  std::set<std::uint32_t> waits;
  for (auto w = writers.lower_bound(waits_for.offset); w != writers.end() && w->first < waits_for.end(); ++w)
    waits.insert(w->second.steps.begin(), w->second.steps.end());
  CollectiveStep s;
  s.offset = range.offset;
  s.octets = static_cast<std::uint32_t>(range.octets);
  s.identity = programs_[from].identity_base + range.offset;
  s.waits_for = static_cast<std::uint32_t>(waits.size());
  const std::optional<std::uint32_t> relay = relay_of(from, to);
  const auto [send, first_receive] =
      relay ? hop(from, *relay, channel, s, 0, CollectiveStep::Kind::kRelay) : hop(from, to, channel, s, at, kind);
  for (const std::uint32_t w : waits) after_[from][w].push_back(send);
  std::uint32_t receive = first_receive;
  if (relay) {
    s.offset = programs_[*relay].steps[first_receive].place;
    s.waits_for = 1;
    s.relays = first_receive;
    const auto [onward, last_receive] = hop(*relay, to, channel, s, at, kind);
    after_[*relay][first_receive].push_back(onward);
    receive = last_receive;
  }
  note(writers_[to], {at, range.octets}, receive, kind == CollectiveStep::Kind::kReduce);
  if (most_on_their_way_ == 0) return;
  sends_[from].push_back(send);
  receives_[to].push_back(receive);
}

void PlanBuilder::wait_for_return(std::size_t messages) {
  for (const auto& [rank, sends] : sends_before_) {
    const std::vector<std::uint32_t>& back = receives_[rank];
    for (std::size_t i = messages; i < sends.size() && i - messages < back.size(); ++i) {
      after_[rank][back[i - messages]].push_back(sends[i]);
      ++programs_[rank].steps[sends[i]].waits_for;
    }
  }
}

std::pair<std::uint32_t, std::uint32_t> PlanBuilder::hop(std::uint32_t from, std::uint32_t to, std::uint32_t channel,
                                                         CollectiveStep s, std::uint64_t at,
                                                         CollectiveStep::Kind kind) {
  ++messages_;
  RankProgram& source = programs_[from];
  RankProgram& sink = programs_[to];
  const auto send = static_cast<std::uint32_t>(source.steps.size());
  const auto receive = static_cast<std::uint32_t>(sink.steps.size());
  s.connection = connection(from, to, channel);
  s.peer_step = receive;
  s.place = at;
  if (kind != CollectiveStep::Kind::kCopy) {
    s.place = sink.data_octets + sink.staging_octets;
    sink.staging_octets += s.octets;
  }
  if (most_on_their_way_ > 0) {
    std::vector<std::uint32_t>& before = on_their_way_[{from, s.connection}];
    if (before.size() >= most_on_their_way_) {
      after_[from][before[before.size() - most_on_their_way_]].push_back(send);
      ++s.waits_for;
    }
    before.push_back(send);
  }
  CollectiveStep r = s;
  r.kind = kind;
  r.connection = connection(to, from, channel);
  r.offset = kind == CollectiveStep::Kind::kRelay ? s.place : at;
  r.peer_step = send;
  r.waits_for = 0;
  r.relays = CollectiveStep::kNone;
  // Switches have a latency of their own.
  if (!sink.reducer_latency)
    r.time = (sink.connections[r.connection].scale_up ? scale_up_cost_ : network_cost_) +
             Duration{static_cast<std::int64_t>(ps_per_octet_ * s.octets)};
  source.connections[s.connection].sends += 1;
  sink.connections[r.connection].receives += 1;
  source.steps.push_back(s);
  after_[from].emplace_back();
  sink.steps.push_back(r);
  after_[to].emplace_back();
  return {send, receive};
}

void PlanBuilder::compute(std::uint32_t rank, Range range, Duration time) {
  RankProgram& p = programs_[rank];
  const auto step = static_cast<std::uint32_t>(p.steps.size());
  CollectiveStep s;
  s.kind = CollectiveStep::Kind::kCompute;
  s.offset = range.offset;
  s.time = time;
  if (const auto before = computed_.find(rank); before != computed_.end()) {
    s.waits_for = 1;
    after_[rank][before->second].push_back(step);
  }
  computed_[rank] = step;
  p.steps.push_back(s);
  after_[rank].emplace_back();
  if (range.octets > 0) note(writers_[rank], range, step, true);
}

std::uint32_t PlanBuilder::connection(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel) {
  std::vector<RankConnection>& mine = programs_[rank].connections;
  const auto [found, is_new] =
      connections_[rank].try_emplace({peer, channel}, static_cast<std::uint32_t>(mine.size()));
  if (is_new) {
    mine.push_back({.peer = peer, .channel = channel, .scale_up = in_one_host(rank, peer)});
    mine.back().at_peer = connection(peer, rank, channel);
    programs_[peer].connections[mine.back().at_peer].at_peer = found->second;
  }
  return found->second;
}

void PlanBuilder::cut(Writers& writers, std::uint64_t at) {
  auto after = writers.upper_bound(at);
  if (after == writers.begin()) return;
  auto& [start, written] = *std::prev(after);
  if (start == at || written.end <= at) return;
  writers.emplace_hint(after, at, Written{written.end, written.steps});
  written.end = at;
}

void PlanBuilder::note(Writers& writers, Range range, std::uint32_t step, bool adds) {
  cut(writers, range.offset);
  cut(writers, range.end());
  std::uint64_t at = range.offset;
  auto w = writers.lower_bound(at);
  while (at < range.end()) {
    if (w == writers.end() || w->first > at) {
      const std::uint64_t end = w == writers.end() ? range.end() : std::min(range.end(), w->first);
      w = std::next(writers.emplace_hint(w, at, Written{end, {step}}));
      at = end;
      continue;
    }
    if (!adds) w->second.steps.clear();
    w->second.steps.push_back(step);
    at = w->second.end;
    ++w;
  }
}

// Everything that any rank looks at as one.
void PlanBuilder::set_cuts() {
  std::vector<std::uint64_t> all{0, programs_[0].data_octets};
  const auto add = [&](std::uint64_t offset, std::uint64_t octets) {
    all.push_back(offset);
    all.push_back(offset + octets);
  };
  for (const RankProgram& p : programs_) {
    for (const CollectiveStep& s : p.steps)
      if (s.offset < p.data_octets) add(s.offset, s.octets);
    for (const CollectiveExtent& e : p.inputs) add(e.offset, e.octets);
    for (const CollectiveExtent& e : p.results) add(e.offset, e.octets);
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
  }
  const auto cuts = std::make_shared<const std::vector<std::uint64_t>>(std::move(all));
  const auto place = [&](std::uint64_t at) {
    return static_cast<std::uint32_t>(std::ranges::lower_bound(*cuts, at) - cuts->begin());
  };
  for (RankProgram& p : programs_) {
    p.cuts = cuts;
    for (CollectiveStep& s : p.steps) {
      s.first_cut = place(s.offset);
      s.end_cut = place(s.offset + s.octets);
    }
  }
}

std::vector<RankProgram> PlanBuilder::finish() {
  set_cuts();
  for (std::size_t r = 0; r < programs_.size(); ++r) {
    RankProgram& p = programs_[r];
    for (std::size_t i = 0; i < p.steps.size(); ++i) {
      p.steps[i].first_after = static_cast<std::uint32_t>(p.after.size());
      p.after.insert(p.after.end(), after_[r][i].begin(), after_[r][i].end());
      p.steps[i].end_after = static_cast<std::uint32_t>(p.after.size());
    }
  }
  return std::move(programs_);
}

}  // namespace railyard::collectives
