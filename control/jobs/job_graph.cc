#include "control/jobs/job_graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dataplane/base/assert.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using Error = std::unexpected<TraceError>;

Error error(int line, std::string text) { return Error(TraceError{line, std::move(text)}); }

std::expected<Matches, TraceError> match(const JobGraph& graph) {
  Matches all;
  // By sender, receiver and tag: sends whose receives have not been met, in their order.
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> sends;
  const auto n = static_cast<std::uint32_t>(graph.ranks.size());
  for (std::uint32_t r = 0; r < n; ++r) {
    std::vector<std::uint32_t>& own = all.emplace_back(graph.ranks[r].size());
    for (std::uint32_t i = 0; i < graph.ranks[r].size(); ++i) {
      own[i] = i;
      const Operation& o = graph.ranks[r][i];
      if (o.kind == Kind::kCompute || o.kind == Kind::kCollective) continue;
      if (o.peer >= n) return error(o.line, fmt::format("rank {}; expected 0..{}", o.peer, n - 1));
      if (o.peer == r) return error(o.line, fmt::format("rank {} and itself; expected another rank", r));
      if (o.kind == Kind::kSend) sends[{r, o.peer, o.tag}].push_back(i);
    }
  }
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, std::size_t> received;
  for (std::uint32_t r = 0; r < n; ++r)
    for (std::uint32_t i = 0; i < graph.ranks[r].size(); ++i) {
      const Operation& o = graph.ranks[r][i];
      if (o.kind != Kind::kReceive) continue;
      const std::tuple key{o.peer, r, o.tag};
      const auto found = sends.find(key);
      std::size_t& k = received[key];
      if (found == sends.end() || k == found->second.size())
        return error(o.line, fmt::format("rank {} receives a message from rank {} with tag {} that is not sent", r, o.peer, o.tag));
      const std::uint32_t send = found->second[k++];
      const Operation& s = graph.ranks[o.peer][send];
      if (s.octets > o.octets)
        return error(o.line, fmt::format("receives {} bytes, but rank {} sends {} (line {}); expected as much", o.octets,
                                         o.peer, s.octets, s.line));
      RAILYARD_ASSERT(s.occasion == o.occasion, "what is sent now and then is received then");
      all[r][i] = send;
      all[o.peer][send] = i;
    }
  for (const auto& [key, list] : sends)
    if (const std::size_t k = received[key]; k < list.size()) {
      const auto& [from, to, tag] = key;
      return error(graph.ranks[from][list[k]].line,
                   fmt::format("rank {} sends a message to rank {} with tag {} that is not received", from, to, tag));
    }
  return all;
}

std::expected<void, TraceError> check_collectives(const JobGraph& graph) {
  const auto n = static_cast<std::uint32_t>(graph.ranks.size());
  for (const Collective& c : graph.collectives) {
    const std::vector<std::uint32_t>& members = graph.communicators[c.communicator];
    std::vector<std::uint32_t> sorted = members;
    std::ranges::sort(sorted);
    if (sorted.size() < 2 || std::ranges::adjacent_find(sorted) != sorted.end() || sorted.back() >= n)
      return error(c.line, fmt::format("{} of {} ranks; expected at least 2 of 0..{}, each once", name(c.operation),
                                       sorted.size(), n - 1));
    if (c.root >= members.size())
      return error(c.line, fmt::format("root {} of {} ranks; expected 0..{}", c.root, members.size(), members.size() - 1));
    if (!c.matrix.empty() && c.matrix.size() != members.size() * members.size())
      return error(c.line, fmt::format("{} sizes for {} ranks; expected {}", c.matrix.size(), members.size(),
                                       members.size() * members.size()));
  }
  std::vector<std::vector<std::uint32_t>> sorted_members = graph.communicators;
  for (std::vector<std::uint32_t>& members : sorted_members) std::ranges::sort(members);
  std::vector<std::size_t> there(graph.collectives.size());
  std::vector<std::uint32_t> last(graph.collectives.size(), n);
  for (std::uint32_t r = 0; r < n; ++r)
    for (const Operation& o : graph.ranks[r]) {
      if (o.kind != Kind::kCollective) continue;
      if (!std::ranges::binary_search(sorted_members[graph.collectives[o.collective].communicator], r))
        return error(o.line, fmt::format("rank {} takes part in a collective of other ranks", r));
      if (last[o.collective] == r) return error(o.line, fmt::format("rank {} takes part in a collective twice", r));
      last[o.collective] = r;
      ++there[o.collective];
    }
  for (std::size_t i = 0; i < there.size(); ++i)
    if (const Collective& c = graph.collectives[i]; there[i] != graph.communicators[c.communicator].size())
      return error(c.line, fmt::format("{} of {} ranks take part in {}; expected all", there[i],
                                       graph.communicators[c.communicator].size(), name(c.operation)));
  return {};
}

// Kahn's algorithm over all operations: what is left waits in a circle. No part of a collective is done before all its
// ranks have started theirs.
std::expected<void, TraceError> find_circle(const JobGraph& graph, const Matches& matches) {
  std::vector<std::vector<std::uint32_t>> waits;
  std::vector<std::vector<std::vector<std::uint32_t>>> next;  // by rank and operation
  std::vector<std::pair<std::uint32_t, std::uint32_t>> ready;
  for (std::uint32_t r = 0; r < graph.ranks.size(); ++r) {
    const auto& own = graph.ranks[r];
    next.emplace_back(own.size());
    waits.emplace_back(own.size());
    for (std::uint32_t i = 0; i < own.size(); ++i) {
      for (const std::vector<std::uint32_t>* list : {&own[i].after, &own[i].with})
        for (const std::uint32_t before : *list) {
          next[r][before].push_back(i);
          ++waits[r][i];
        }
      if (own[i].kind == Kind::kReceive || own[i].kind == Kind::kCollective) ++waits[r][i];
      if (waits[r][i] == 0) ready.emplace_back(r, i);
    }
  }
  // By collective: the parts of it that have started.
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> started(graph.collectives.size());
  std::size_t done = 0;
  const auto start = [&](std::uint32_t rank, std::uint32_t operation) {
    const Operation& o = graph.ranks[rank][operation];
    auto& parts = started[o.collective];
    parts.emplace_back(rank, operation);
    if (parts.size() < graph.communicators[graph.collectives[o.collective].communicator].size()) return;
    ready.insert(ready.end(), parts.begin(), parts.end());
  };
  const auto met = [&](std::uint32_t rank, std::uint32_t operation) {
    const bool together = graph.ranks[rank][operation].kind == Kind::kCollective;
    const std::uint32_t left = --waits[rank][operation];
    if (together && left == 1) start(rank, operation);
    if (!together && left == 0) ready.emplace_back(rank, operation);
  };
  for (std::uint32_t r = 0; r < graph.ranks.size(); ++r)
    for (std::uint32_t i = 0; i < graph.ranks[r].size(); ++i)
      if (graph.ranks[r][i].kind == Kind::kCollective && waits[r][i] == 1) start(r, i);
  for (; done < ready.size(); ++done) {
    const auto [r, i] = ready[done];
    for (const std::uint32_t n : next[r][i]) met(r, n);
    if (graph.ranks[r][i].kind == Kind::kSend) met(graph.ranks[r][i].peer, matches[r][i]);
  }
  if (done == graph.operations()) return {};
  for (std::uint32_t r = 0; r < graph.ranks.size(); ++r)
    for (std::uint32_t i = 0; i < graph.ranks[r].size(); ++i)
      if (waits[r][i] > 0)
        return error(graph.ranks[r][i].line,
                     fmt::format("operations wait for each other in a circle; one of them is this one of rank {}", r));
  return {};
}

}  // namespace

std::size_t JobGraph::operations() const noexcept {
  std::size_t all = 0;
  for (const auto& own : ranks) all += own.size();
  return all;
}

std::uint64_t JobGraph::octets() const noexcept {
  std::uint64_t all = 0;
  for (const auto& own : ranks)
    for (const Operation& o : own) all += o.kind == Kind::kSend && o.occasion == 0 ? message_octets(o.octets) : 0;
  return all;
}

std::uint32_t JobGraph::ordinary(std::uint32_t repeats) const {
  std::vector<std::vector<std::uint32_t>> kind_of(repeats);  // occasions
  for (std::uint32_t o = 1; o < occasions.size(); ++o)
    for (const std::uint32_t repeat : occasions[o])
      if (repeat < repeats) kind_of[repeat].push_back(o);
  struct Found {
    std::uint32_t first = 0, repeats = 0;
  };
  std::map<std::vector<std::uint32_t>, Found> kinds;
  for (std::uint32_t r = 0; r < repeats; ++r) ++kinds.try_emplace(kind_of[r], Found{r, 0}).first->second.repeats;
  const auto rank = [](const auto& kind) { return std::pair(kind.second.repeats, -static_cast<std::int64_t>(kind.first.size())); };
  const auto best = std::ranges::max_element(kinds, {}, rank);
  return best == kinds.end() ? 0 : best->second.first;
}

JobGraph of_repeat(const JobGraph& graph, std::uint32_t repeat) {
  JobGraph one = graph;
  one.occasions = {{}};
  one.collectives.clear();
  std::map<std::uint32_t, std::uint32_t> numbers;  // of collectives that go
  for (std::vector<Operation>& own : one.ranks)
    for (Operation& o : own) {
      if (!graph.goes(o, repeat)) {
        o = {.label = o.label, .line = o.line, .after = std::move(o.after), .with = std::move(o.with)};
      } else if (o.kind == Kind::kCollective) {
        const auto [number, is_new] = numbers.try_emplace(o.collective, static_cast<std::uint32_t>(one.collectives.size()));
        if (is_new) one.collectives.push_back(graph.collectives[o.collective]);
        o.collective = number->second;
      }
      o.occasion = 0;
    }
  return one;
}

std::uint64_t message_octets(std::uint64_t octets) noexcept {
  return std::max<std::uint64_t>((octets + 3) / 4 * 4, 4);
}

std::uint64_t collective_octets(const JobGraph& graph, const Collective& collective) noexcept {
  if (!collective.matrix.empty()) return collective.octets;
  const std::uint64_t unit = 4 * (collectives::traits(collective.operation).by_blocks
                                      ? graph.communicators[collective.communicator].size()
                                      : 1);
  return std::max<std::uint64_t>((collective.octets + unit - 1) / unit, 1) * unit;
}

std::vector<std::uint32_t> requirements(const std::vector<Operation>& rank, std::uint32_t i) {
  std::vector<std::uint32_t> all, open{i}, seen{i};
  while (!open.empty()) {
    const Operation& o = rank[open.back()];
    open.pop_back();
    all.insert(all.end(), o.after.begin(), o.after.end());
    for (const std::uint32_t with : o.with)
      if (std::ranges::find(seen, with) == seen.end()) {
        seen.push_back(with);
        open.push_back(with);
      }
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

std::uint64_t total_octets(const JobGraph& graph) noexcept {
  std::uint64_t all = graph.octets();
  for (const Collective& c : graph.collectives) all += collective_octets(graph, c);
  return all;
}

std::expected<Matches, TraceError> check(const JobGraph& graph) {
  if (const auto wrong = check_collectives(graph); !wrong) return std::unexpected(wrong.error());
  auto matches = match(graph);
  if (!matches) return matches;
  if (const auto circle = find_circle(graph, *matches); !circle) return std::unexpected(circle.error());
  return matches;
}

}  // namespace railyard::jobs
