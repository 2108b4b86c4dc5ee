#include "control/timeline/work.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "control/jobs/compile.h"
#include "control/spec/collective_ranks.h"
#include "control/spec/value.h"

namespace railyard::timeline {
namespace {

using Kind = Work::Operation::Kind;
using Step = CollectiveStep;

std::string size_text(std::uint64_t octets) { return spec::format(Bytes{static_cast<std::int64_t>(octets)}); }

// "all-reduce, 64MiB, 8 ranks"
std::string collective_name(std::string_view operation, std::uint64_t octets, std::size_t ranks) {
  return octets == 0 ? fmt::format("{}, {} ranks", operation, ranks)
                     : fmt::format("{}, {}, {} ranks", operation, size_text(octets), ranks);
}

class Names {
 public:
  explicit Names(std::vector<std::string>& names) : names_(names) {}
  std::uint32_t of(std::string name) {
    const auto [found, is_new] = known_.try_emplace(std::move(name), static_cast<std::uint32_t>(names_.size()));
    if (is_new) names_.push_back(found->first);
    return found->second;
  }

 private:
  std::vector<std::string>& names_;
  std::map<std::string, std::uint32_t> known_;
};

std::string name_of(const jobs::JobGraph& graph, const jobs::Operation& o) {
  const std::string& label = graph.labels[o.label];
  switch (o.kind) {
    case jobs::Operation::Kind::kCompute:
      return label.empty() ? "compute" : label;
    case jobs::Operation::Kind::kSend:
      return fmt::format("{} {} to rank {}", label.empty() ? "send" : label + ":", size_text(o.octets), o.peer);
    case jobs::Operation::Kind::kReceive:
      return fmt::format("{} {} from rank {}", label.empty() ? "receive" : label + ":", size_text(o.octets), o.peer);
    case jobs::Operation::Kind::kCollective: {
      const jobs::Collective& c = graph.collectives[o.collective];
      return (label.empty() ? "" : label + ": ") + collective_name(collectives::name(c.operation), c.octets, graph.communicators[c.communicator].size());
    }
  }
  return {};
}

Kind kind_of(jobs::Operation::Kind kind) {
  switch (kind) {
    case jobs::Operation::Kind::kCompute:
      return Kind::kCompute;
    case jobs::Operation::Kind::kSend:
      return Kind::kSend;
    case jobs::Operation::Kind::kReceive:
      return Kind::kReceive;
    case jobs::Operation::Kind::kCollective:
      break;
  }
  return Kind::kCollective;
}

Work of_graph(const spec::Lab& lab, const spec::CollectiveSpec& c, const std::vector<spec::PortName>& nics) {
  const jobs::JobGraph& graph = c.traced.whole();
  std::vector<jobs::OperationSteps> steps;
  jobs::compile(graph, c.traced.whole_matches(), spec::compile_options(lab, c, nics), &steps);
  Work work;
  Names names(work.names);
  for (std::size_t r = 0; r < graph.ranks.size(); ++r) {
    std::vector<Work::Operation>& own = work.operations.emplace_back();
    for (const jobs::Operation& o : graph.ranks[r])
      own.push_back({.kind = kind_of(o.kind),
                     .stream = o.stream,
                     .name = names.of(name_of(graph, o)),
                     .after = o.after,
                     .with = o.with});
    work.of_step.push_back(std::move(steps[r].of_step));
  }
  // Reducers have messages, and no operations.
  for (std::size_t r = graph.ranks.size(); r < steps.size(); ++r) {
    work.operations.emplace_back();
    work.of_step.push_back(std::move(steps[r].of_step));
  }
  return work;
}

// Computing is in the order of its steps. What is sent once a bucket is there belongs to that bucket, and so does what
// follows from it at other ranks.
class Plain {
 public:
  Plain(const spec::CollectiveSpec& c, const std::vector<const RankProgram*>& programs) : c_(c), programs_(programs) {}

  Work run() {
    Names names(work_.names);
    for (std::uint32_t r = 0; r < programs_.size(); ++r) {
      work_.of_step.emplace_back(programs_[r]->steps.size(), Step::kNone);
      work_.operations.emplace_back();
      add_computing(r, names);
    }
    for (; !open_.empty();) {
      const auto [r, step] = open_.back();
      open_.pop_back();
      spread(r, step);
    }
    const std::uint64_t octets = static_cast<std::uint64_t>(c_.size.n) / buckets();
    const std::uint32_t name = names.of(collective_name(collectives::name(c_.collective), octets, programs_.empty() ? 0 : programs_.front()->ranks));
    for (std::uint32_t r = 0; r < programs_.size(); ++r) add_communication(r, name);
    return std::move(work_);
  }

 private:
  std::uint64_t buckets() const noexcept { return static_cast<std::uint64_t>(std::max(c_.buckets, 1)); }

  void add_computing(std::uint32_t r, Names& names) {
    std::vector<Work::Operation>& own = work_.operations[r];
    bucket_.emplace_back(programs_[r]->steps.size(), Step::kNone);
    std::uint32_t bucket = 0;
    for (std::uint32_t s = 0; s < programs_[r]->steps.size(); ++s) {
      if (programs_[r]->steps[s].kind != Step::Kind::kCompute) continue;
      const bool forward = own.empty() && c_.forward > Duration{};
      work_.of_step[r][s] = static_cast<std::uint32_t>(own.size());
      own.push_back({.kind = Kind::kCompute,
                     .name = names.of(forward                ? std::string("forward")
                                      : buckets() > 1        ? fmt::format("backward, bucket {}", bucket + 1)
                                                             : std::string("backward"))});
      if (forward) continue;
      bucket_[r][s] = bucket++;
      open_.emplace_back(r, s);
    }
  }

  // A step's bucket is that of what it waits for; the later one.
  void spread(std::uint32_t r, std::uint32_t s) {
    const RankProgram& p = *programs_[r];
    const std::uint32_t bucket = bucket_[r][s];
    const auto take = [&](std::uint32_t rank, std::uint32_t step) {
      std::uint32_t& of = bucket_[rank][step];
      if (programs_[rank]->steps[step].kind == Step::Kind::kCompute || (of != Step::kNone && of >= bucket)) return;
      of = bucket;
      open_.emplace_back(rank, step);
    };
    for (std::uint32_t i = p.steps[s].first_after; i < p.steps[s].end_after; ++i) take(r, p.after[i]);
    if (p.steps[s].kind == Step::Kind::kSend) take(p.connections[p.steps[s].connection].peer, p.steps[s].peer_step);
  }

  void add_communication(std::uint32_t r, std::uint32_t name) {
    std::vector<Work::Operation>& own = work_.operations[r];
    std::map<std::uint32_t, std::uint32_t> of_bucket;  // its computing, and its communicating
    for (std::uint32_t s = 0; s < programs_[r]->steps.size(); ++s)
      if (programs_[r]->steps[s].kind == Step::Kind::kCompute && bucket_[r][s] != Step::kNone)
        of_bucket[bucket_[r][s]] = work_.of_step[r][s];
    std::map<std::uint32_t, std::uint32_t> communication;
    for (std::uint32_t s = 0; s < programs_[r]->steps.size(); ++s) {
      if (programs_[r]->steps[s].kind == Step::Kind::kCompute) continue;
      const auto [found, is_new] = communication.try_emplace(bucket_[r][s], static_cast<std::uint32_t>(own.size()));
      if (is_new) {
        own.push_back({.kind = Kind::kCollective, .name = name});
        if (const auto computing = of_bucket.find(bucket_[r][s]); computing != of_bucket.end())
          own.back().after.push_back(computing->second);
      }
      work_.of_step[r][s] = found->second;
    }
  }

  const spec::CollectiveSpec& c_;
  const std::vector<const RankProgram*>& programs_;
  Work work_;
  std::vector<std::vector<std::uint32_t>> bucket_;              // by rank and step
  std::vector<std::pair<std::uint32_t, std::uint32_t>> open_;  // ranks and steps whose bucket others do not know yet
};

}  // namespace

Work work_of(const spec::Lab& lab, const spec::CollectiveSpec& collective, const std::vector<spec::PortName>& nics,
             const std::vector<const RankProgram*>& programs) {
  return collective.traced.graph != nullptr ? of_graph(lab, collective, nics) : Plain(collective, programs).run();
}

}  // namespace railyard::timeline
