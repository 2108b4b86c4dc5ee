#include "control/jobs/job_graph.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

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
      if (o.kind == Kind::kCompute) continue;
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

// Kahn's algorithm over all operations: what is left waits in a circle.
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
      if (own[i].kind == Kind::kReceive) ++waits[r][i];
      if (waits[r][i] == 0) ready.emplace_back(r, i);
    }
  }
  std::size_t done = 0;
  const auto met = [&](std::uint32_t rank, std::uint32_t operation) {
    if (--waits[rank][operation] == 0) ready.emplace_back(rank, operation);
  };
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
    for (const Operation& o : own) all += o.kind == Kind::kSend ? message_octets(o.octets) : 0;
  return all;
}

std::uint64_t message_octets(std::uint64_t octets) noexcept {
  return std::max<std::uint64_t>((octets + 3) / 4 * 4, 4);
}

std::expected<Matches, TraceError> check(const JobGraph& graph) {
  auto matches = match(graph);
  if (!matches) return matches;
  if (const auto circle = find_circle(graph, *matches); !circle) return std::unexpected(circle.error());
  return matches;
}

}  // namespace railyard::jobs
