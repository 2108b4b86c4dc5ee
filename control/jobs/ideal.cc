#include "control/jobs/ideal.h"

#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;

class Ideal {
 public:
  Ideal(const JobGraph& graph, const Matches& matches, const std::vector<double>& slowness)
      : graph_(graph), matches_(matches), slowness_(slowness), started_(graph.collectives.size()) {}

  Duration run() {
    for (std::uint32_t r = 0; r < graph_.ranks.size(); ++r) add_rank(r);
    for (std::uint32_t r = 0; r < graph_.ranks.size(); ++r)
      for (std::uint32_t i = 0; i < graph_.ranks[r].size(); ++i)
        if (ranks_[r].waits[i] == 0) start({}, r, i);
    while (!ends_.empty()) {
      const auto [at, order, rank, operation] = ends_.top();
      ends_.pop();
      now_ = Duration{at};
      Rank& r = ranks_[rank];
      if (graph_.ranks[rank][operation].time > Duration{}) {
        Rank::Stream& stream = r.streams[graph_.ranks[rank][operation].stream];
        stream.busy = false;
        if (!stream.waiting.empty()) {
          const std::uint32_t next = stream.waiting.front();
          stream.waiting.pop();
          compute(rank, next);
        }
      }
      done(rank, operation);
    }
    return now_;
  }

 private:
  struct Rank {
    std::vector<std::uint32_t> waits;
    std::vector<std::vector<std::uint32_t>> next;
    struct Stream {
      bool busy = false;
      std::queue<std::uint32_t> waiting{};
    };
    std::vector<Stream> streams;  // as many as it uses
  };

  void add_rank(std::uint32_t r) {
    const std::vector<Operation>& own = graph_.ranks[r];
    Rank& rank = ranks_.emplace_back();
    rank.waits.resize(own.size());
    rank.next.resize(own.size());
    for (std::uint32_t i = 0; i < own.size(); ++i) {
      if (own[i].kind == Kind::kCompute && own[i].stream >= rank.streams.size()) rank.streams.resize(own[i].stream + 1u);
      const std::vector<std::uint32_t> all = requirements(own, i);
      rank.waits[i] = static_cast<std::uint32_t>(all.size()) + (own[i].kind == Kind::kReceive ? 1 : 0);
      for (const std::uint32_t before : all) rank.next[before].push_back(i);
    }
  }

  void start(Duration now, std::uint32_t r, std::uint32_t i) {
    const Operation& o = graph_.ranks[r][i];
    now_ = now;
    if (o.kind == Kind::kCompute && o.time > Duration{}) {
      if (Rank::Stream& stream = ranks_[r].streams[o.stream]; stream.busy)
        stream.waiting.push(i);
      else
        compute(r, i);
    } else if (o.kind == Kind::kCollective) {
      auto& parts = started_[o.collective];
      parts.emplace_back(r, i);
      if (parts.size() == graph_.communicators[graph_.collectives[o.collective].communicator].size())
        for (const auto& [rank, operation] : parts) end_at(now, rank, operation);
    } else {
      end_at(now, r, i);
    }
  }
  void compute(std::uint32_t r, std::uint32_t i) {
    const Operation& o = graph_.ranks[r][i];
    ranks_[r].streams[o.stream].busy = true;
    const Duration time =
        slowness_.empty() || o.idle ? o.time : Duration{static_cast<std::int64_t>(static_cast<double>(o.time.ps) * slowness_[r])};
    end_at(now_ + time, r, i);
  }
  void end_at(Duration at, std::uint32_t r, std::uint32_t i) { ends_.emplace(at.ps, order_++, r, i); }
  void done(std::uint32_t r, std::uint32_t i) {
    for (const std::uint32_t next : ranks_[r].next[i])
      if (--ranks_[r].waits[next] == 0) start(now_, r, next);
    const Operation& o = graph_.ranks[r][i];
    if (o.kind == Kind::kSend)
      if (const std::uint32_t receive = matches_[r][i]; --ranks_[o.peer].waits[receive] == 0) start(now_, o.peer, receive);
  }

  const JobGraph& graph_;
  const Matches& matches_;
  const std::vector<double>& slowness_;
  std::vector<Rank> ranks_;
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> started_;  // by collective: parts of it
  using End = std::tuple<std::int64_t, std::uint64_t, std::uint32_t, std::uint32_t>;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::uint64_t order_ = 0;
  Duration now_{};
};

}  // namespace

Duration ideal_time(const JobGraph& graph, const Matches& matches, const std::vector<double>& slowness) {
  return Ideal(graph, matches, slowness).run();
}

}  // namespace railyard::jobs
