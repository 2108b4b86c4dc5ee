#include "control/jobs/eras.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "control/jobs/graph_builder.h"
#include "control/jobs/training_size.h"

namespace railyard::jobs {
namespace {

std::unexpected<TrainingError> wrong_failure(std::string text) { return std::unexpected(TrainingError{"failures", std::move(text)}); }

int copy_of(const Parallelism& p, int rank) { return coordinates(p, rank)[static_cast<std::size_t>(Axis::kData)]; }

// What so many copies do, where some have gone or returned. `when`: for errors.
std::expected<Training, TrainingError> resized(const Training& before, const Training& whole, const Failure& failure, int copies,
                                               const std::string& when) {
  Training t = before;
  t.parallelism.degree(Axis::kData) = copies;
  const auto error = [&](const std::string& text) {
    return wrong_failure(fmt::format("{} there are {} copies: {}", when, copies, text));
  };
  if (failure.elastic == Elastic::kSameBatch) {
    const int all = before.microbatches * before.parallelism.degree(Axis::kData);
    if (all % copies != 0)
      return error(fmt::format("they cannot share out {} microbatches evenly; expected another number of microbatches, or "
                               "elastic: smaller-batch", all));
    t.microbatches = all / copies;
  }
  t.shard = whole.shard;
  if (t.shard >= whole.parallelism.degree(Axis::kContext) * whole.parallelism.degree(Axis::kData)) t.shard = 0;
  if (const auto right = check(t); !right) return error(fmt::format("{}: {}", right.error().key, right.error().text));
  return t;
}

// Of a course, what is in [first, end).
Course part_of(const Course& all, const Era& era) {
  const auto in = [&](std::uint32_t step) { return era.first <= step && step < era.end; };
  Course part;
  std::ranges::copy_if(all.checkpoints, std::back_inserter(part.checkpoints), in);
  std::ranges::copy_if(all.restores, std::back_inserter(part.restores), in);
  std::ranges::copy_if(all.restarts, std::back_inserter(part.restarts), [&](const auto& r) { return in(r.first); });
  return part;
}

// Puts the graphs of eras into one.
class Joiner {
 public:
  explicit Joiner(const Training& training)
      : p_(training.parallelism), storage_(training.storage.ranks), graph_(static_cast<std::size_t>(p_.ranks() + storage_)),
        operations_(graph_.ranks()) {}

  void add(const Era& era, const JobGraph& own) {
    const Parallelism& p = era.training.parallelism;
    std::vector<std::uint32_t> ranks;
    for (int r = 0; r < p.ranks(); ++r) {
      Coordinates at = coordinates(p, r);
      int& copy = at[static_cast<std::size_t>(Axis::kData)];
      copy = era.copies[static_cast<std::size_t>(copy)];
      ranks.push_back(static_cast<std::uint32_t>(rank_at(p_, at)));
    }
    for (int s = 0; s < storage_; ++s) ranks.push_back(static_cast<std::uint32_t>(p_.ranks() + s));

    std::vector<std::uint32_t> always;
    for (std::uint32_t step = era.first; step < era.end; ++step) always.push_back(step);
    std::vector<std::uint32_t> occasions{graph_.occasion(std::move(always))};
    for (std::size_t o = 1; o < own.occasions.size(); ++o) occasions.push_back(graph_.occasion(own.occasions[o]));
    std::vector<std::uint32_t> labels, collectives;
    for (const std::string& label : own.labels) labels.push_back(graph_.label(label));
    for (Collective c : own.collectives) {
      std::vector<std::uint32_t> members;
      for (const std::uint32_t r : own.communicators[c.communicator]) members.push_back(ranks[r]);
      c.communicator = graph_.communicator(members);
      collectives.push_back(graph_.collective(std::move(c)));
    }
    before_ = operations_;
    for (std::uint32_t r = 0; r < own.ranks.size(); ++r)
      for (Operation o : own.ranks[r]) {
        for (std::vector<std::uint32_t>* list : {&o.after, &o.with})
          for (std::uint32_t& other : *list) other += before_[ranks[r]];
        o.label = labels[o.label];
        o.occasion = occasions[o.occasion];
        if (o.kind == Operation::Kind::kCollective) o.collective = collectives[o.collective];
        if (o.kind == Operation::Kind::kSend || o.kind == Operation::Kind::kReceive) o.peer = ranks[o.peer];
        operations_[ranks[r]] = graph_.add(ranks[r], std::move(o)) + 1;
      }
  }
  // Behind add(before). Ranks that are left out have nothing to do, and would be far ahead of the others when they return.
  void call_back(const Era& before, const Era& next) {
    const std::uint32_t step = graph_.occasion({next.first - 1});
    for (int r = 0; r < p_.ranks(); ++r) {
      Coordinates at = coordinates(p_, r);
      if (before.has(p_, r) || !next.has(p_, r)) continue;
      at[static_cast<std::size_t>(Axis::kData)] = before.copies.front();
      const auto called = static_cast<std::uint32_t>(r), caller = static_cast<std::uint32_t>(rank_at(p_, at));
      Operation message{.kind = Operation::Kind::kSend, .peer = called, .octets = 4, .label = graph_.label(kRestart), .occasion = step};
      for (std::uint32_t o = before_[caller]; o < operations_[caller]; ++o) message.after.push_back(o);
      graph_.add(caller, message);
      message.kind = Operation::Kind::kReceive;
      message.peer = caller;
      message.after.clear();
      operations_[called] = graph_.add(called, std::move(message)) + 1;
      ++calls_[caller];
    }
    for (auto& [caller, calls] : calls_) operations_[caller] += std::exchange(calls, 0);
  }
  JobGraph take() { return graph_.take(); }

 private:
  const Parallelism& p_;
  int storage_;
  GraphBuilder graph_;
  std::vector<std::uint32_t> operations_;  // by rank, so far
  std::vector<std::uint32_t> before_;      // by rank, when the last era was added
  std::map<std::uint32_t, std::uint32_t> calls_;  // by rank: messages that are not among operations_ yet
};

}  // namespace

bool Era::has(const Parallelism& parallelism, int rank) const {
  return std::ranges::binary_search(copies, copy_of(parallelism, rank));
}

double Era::tokens() const noexcept {
  return static_cast<double>(training.microbatches) * training.microbatch_size * training.used_sequence() *
         training.parallelism.degree(Axis::kData);
}

namespace {

// The copy of a failure's rank goes, or returns, before a step (from 0).
struct Change {
  std::uint32_t step = 0;
  bool returns = false;
  const Failure* failure = nullptr;
};

// In the order of steps, those that go before those that return.
std::vector<Change> changes(const std::vector<Failure>& failures) {
  std::vector<Change> all;
  for (const Failure& f : failures) {
    if (f.elastic == Elastic::kOff) continue;
    all.push_back({static_cast<std::uint32_t>(f.step), false, &f});
    if (f.returns > 0) all.push_back({static_cast<std::uint32_t>(f.returns - 1), true, &f});
  }
  std::ranges::stable_sort(all, {}, [](const Change& c) { return std::pair{c.step, c.returns}; });
  return all;
}

}  // namespace

std::expected<std::vector<Era>, TrainingError> eras(const Training& training) {
  const Parallelism& p = training.parallelism;
  const auto steps = static_cast<std::uint32_t>(training.storage.steps);
  std::vector<Era> all{{0, steps, {}, training}};
  for (int copy = 0; copy < p.degree(Axis::kData); ++copy) all[0].copies.push_back(copy);
  for (const Change& change : changes(training.storage.failures)) {
    const Failure& f = *change.failure;
    const auto error = [&](const std::string& text) { return wrong_failure(fmt::format("step {}: {}", f.step, text)); };
    if (!f.rank) return error("elastic, but no rank fails; expected rank: the one that is lost");
    if (*f.rank >= p.ranks()) return error(fmt::format("there is no rank {}; expected 0..{}", *f.rank, p.ranks() - 1));
    Era next = all.back();
    const int copy = copy_of(p, *f.rank);
    const auto place = std::ranges::lower_bound(next.copies, copy);
    if (change.returns) {
      next.copies.insert(place, copy);
    } else {
      if (place == next.copies.end() || *place != copy)
        return error(fmt::format("rank {} has been left out before; expected another", *f.rank));
      if (next.copies.size() == 1)
        return error(fmt::format("rank {} is in the only copy, and none would be left; expected another copy (dp), or elastic: off", *f.rank));
      next.copies.erase(place);
    }
    const auto now = resized(next.training, training, f, static_cast<int>(next.copies.size()),
                             change.returns ? fmt::format("from step {} on", f.returns)
                                            : fmt::format("after the failure in step {}", f.step));
    if (!now) return std::unexpected(now.error());
    next.training = *now;
    if (change.step == steps) break;  // nothing is carried out after it
    if (all.back().first == change.step) {
      all.back() = std::move(next);
      continue;
    }
    next.first = all.back().end = change.step;
    all.push_back(std::move(next));
  }
  // The graph has all of them.
  double count = 0;
  for (const Era& era : all) count += operations(era.training);
  if (count > kMostTrainingOperations)
    return wrong_failure(fmt::format("steps with {} different numbers of copies have about {:.0f} operations; expected at most {:.0f}: "
                                     "fewer failures, microbatches or segments", all.size(), count, kMostTrainingOperations));
  return all;
}

const Era& era_of(const std::vector<Era>& eras, std::uint32_t step) {
  const auto found = std::ranges::find_if(eras, [&](const Era& e) { return step < e.end; });
  return found == eras.end() ? eras.back() : *found;
}

JobGraph make_graph(const Training& training, const std::vector<Era>& eras) {
  const Course all = course(training.storage);
  Joiner joined(training);
  for (std::size_t e = 0; e < eras.size(); ++e) {
    joined.add(eras[e], make_graph(eras[e].training, part_of(all, eras[e])));
    if (e + 1 < eras.size()) joined.call_back(eras[e], eras[e + 1]);
  }
  return joined.take();
}

}  // namespace railyard::jobs
