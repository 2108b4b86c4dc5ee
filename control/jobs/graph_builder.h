// What readers of traces, and schedules of our own, make graphs with: names and groups of ranks are there once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "control/jobs/job_graph.h"

namespace railyard::jobs {

// What any trace may say at most; a reader refuses more.
inline constexpr std::uint64_t kMostTraceRanks = 65'536;
inline constexpr std::uint64_t kMostTraceOctets = std::uint64_t{1} << 40;                // of a message or collective
inline constexpr std::uint64_t kMostTraceNanoseconds = 1'000'000'000'000'000;            // of computing: 11.6 days
inline constexpr std::size_t kMostTraceOperations = std::size_t{1} << 26;                // of all ranks together

class GraphBuilder {
 public:
  explicit GraphBuilder(std::size_t ranks) { graph_.ranks.resize(ranks); }

  std::size_t ranks() const noexcept { return graph_.ranks.size(); }
  std::size_t operations() const noexcept { return operations_; }

  // Its number in JobGraph::labels.
  std::uint32_t label(std::string_view name) {
    if (name.empty()) return 0;
    const auto found = labels_.find(name);
    if (found != labels_.end()) return found->second;
    const auto number = static_cast<std::uint32_t>(graph_.labels.size());
    graph_.labels.emplace_back(name);
    labels_.emplace(name, number);
    return number;
  }
  // Its number in JobGraph::communicators.
  std::uint32_t communicator(const std::vector<std::uint32_t>& ranks) {
    const auto [found, is_new] = communicators_.try_emplace(ranks, static_cast<std::uint32_t>(graph_.communicators.size()));
    if (is_new) graph_.communicators.push_back(ranks);
    return found->second;
  }
  // Its number in JobGraph::collectives.
  std::uint32_t collective(Collective collective) {
    graph_.collectives.push_back(std::move(collective));
    return static_cast<std::uint32_t>(graph_.collectives.size() - 1);
  }
  // Its number in the rank.
  std::uint32_t add(std::uint32_t rank, Operation operation) {
    ++operations_;
    graph_.ranks[rank].push_back(std::move(operation));
    return static_cast<std::uint32_t>(graph_.ranks[rank].size() - 1);
  }
  // The number of an occasion in JobGraph::occasions; 0 of an empty one: see to it that nothing is made for it.
  std::uint32_t occasion(std::vector<std::uint32_t> repeats) {
    if (repeats.empty()) return 0;
    graph_.occasions.push_back(std::move(repeats));
    return static_cast<std::uint32_t>(graph_.occasions.size() - 1);
  }
  Collective& at(std::uint32_t collective) { return graph_.collectives[collective]; }
  Operation& at(std::uint32_t rank, std::uint32_t operation) { return graph_.ranks[rank][operation]; }

  JobGraph take() { return std::move(graph_); }

 private:
  JobGraph graph_;
  std::size_t operations_ = 0;
  std::map<std::string, std::uint32_t, std::less<>> labels_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> communicators_;
};

}  // namespace railyard::jobs
