#include "control/jobs/compile.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "dataplane/base/hash.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using Step = CollectiveStep;

// Octets are named by numbers below this (CollectiveRank).
constexpr std::uint64_t kIdentities = std::uint64_t{1} << 40;

class Compiler {
 public:
  Compiler(const JobGraph& graph, const Matches& matches, const CompileOptions& options)
      : graph_(graph), matches_(matches), options_(options), programs_(graph.ranks.size()), known_(graph.ranks.size()) {}

  std::vector<RankProgram> run() {
    for (std::uint32_t r = 0; r < programs_.size(); ++r) start_rank(r);
    for (std::uint32_t r = 0; r < programs_.size(); ++r)
      for (std::uint32_t i = 0; i < graph_.ranks[r].size(); ++i) add_operation(r, i);
    for (std::uint32_t r = 0; r < programs_.size(); ++r)
      for (std::uint32_t i = 0; i < graph_.ranks[r].size(); ++i) add_waits(r, i);
    for (std::uint32_t r = 0; r < programs_.size(); ++r) {
      if (programs_[r].steps.empty()) add_join(r);  // who has nothing to do is done at once
      finish_rank(r);
    }
    return std::move(programs_);
  }

 private:
  // The steps of an operation: those that it begins with, and the one by which it is done.
  struct Known {
    std::vector<std::uint32_t> first;
    std::uint32_t done = Step::kNone;
  };
  struct Rank {
    std::vector<Known> operations;
    std::map<std::uint32_t, std::uint32_t> connections;  // by peer
    std::vector<std::vector<std::uint32_t>> after;       // by step
    std::uint64_t sent = 0;                              // octets, so far
  };

  void start_rank(std::uint32_t r) {
    RankProgram& p = programs_[r];
    p.rank = r;
    p.ranks = static_cast<std::uint32_t>(programs_.size());
    for (const Operation& o : graph_.ranks[r])
      if (o.kind == Kind::kSend) p.data_octets += message_octets(o.octets);
    // A rank that sends nothing has an element, so that it has memory at all.
    p.data_octets = std::max<std::uint64_t>(p.data_octets, 4);
    p.inputs.push_back({0, p.data_octets, r, 0});
    // Results lie behind a gap: they are none of the runs between these.
    p.staging_octets = 4;
    p.cuts = std::make_shared<const std::vector<std::uint64_t>>(std::vector<std::uint64_t>{0, p.data_octets});
    known_[r].operations.resize(graph_.ranks[r].size());
  }

  std::uint32_t add_step(std::uint32_t r, const Step& step) {
    programs_[r].steps.push_back(step);
    known_[r].after.emplace_back();
    return static_cast<std::uint32_t>(programs_[r].steps.size() - 1);
  }
  // Done as soon as all that it waits for is.
  std::uint32_t add_join(std::uint32_t r) { return add_step(r, {.kind = Step::Kind::kCompute, .connection = Step::kNone}); }
  void wait(std::uint32_t r, std::uint32_t step, std::uint32_t before) {
    known_[r].after[before].push_back(step);
    ++programs_[r].steps[step].waits_for;
  }

  std::uint32_t connection(std::uint32_t rank, std::uint32_t peer) {
    std::vector<RankConnection>& mine = programs_[rank].connections;
    const auto [found, is_new] = known_[rank].connections.try_emplace(peer, static_cast<std::uint32_t>(mine.size()));
    if (is_new) {
      const bool in_host = !options_.host.empty() && options_.host[rank] == options_.host[peer];
      mine.push_back({.peer = peer, .scale_up = in_host});
      mine.back().at_peer = connection(peer, rank);
      programs_[peer].connections[mine.back().at_peer].at_peer = found->second;
    }
    return found->second;
  }

  void add_operation(std::uint32_t r, std::uint32_t i) {
    const Operation& o = graph_.ranks[r][i];
    if (o.kind == Kind::kCompute) {
      const std::uint32_t step = add_step(r, {.kind = Step::Kind::kCompute, .connection = o.stream, .time = of_rank(r, o.time)});
      known_[r].operations[i] = {{step}, step};
    } else if (o.kind == Kind::kSend) {
      add_message(r, i, o.peer, matches_[r][i]);
    }
  }

  Duration of_rank(std::uint32_t r, Duration time) const {
    if (options_.slowness.empty()) return time;
    return Duration{static_cast<std::int64_t>(static_cast<double>(time.ps) * options_.slowness[r])};
  }

  // Both of its ends.
  void add_message(std::uint32_t from, std::uint32_t send, std::uint32_t to, std::uint32_t receive) {
    const std::uint64_t octets = message_octets(graph_.ranks[from][send].octets);
    std::vector<std::uint32_t> sends, receives;
    for (std::uint64_t done = 0; done < octets; done += options_.chunk) {
      RankProgram& sink = programs_[to];
      Step s{.kind = Step::Kind::kSend};
      s.octets = static_cast<std::uint32_t>(std::min<std::uint64_t>(options_.chunk, octets - done));
      s.connection = connection(from, to);
      s.offset = known_[from].sent;
      s.place = sink.data_octets + sink.staging_octets;
      // Any name will do that no other message is likely to have, because there may be more octets than names.
      s.identity = mix64(std::uint64_t{from} << 32 ^ mix64(s.offset)) % (kIdentities - s.octets);
      s.end_cut = 1;
      s.peer_step = static_cast<std::uint32_t>(sink.steps.size());
      known_[from].sent += s.octets;
      sink.staging_octets += s.octets;
      sink.results.push_back({s.place, s.octets, from, s.offset});
      Step d = s;
      d.kind = Step::Kind::kRelay;
      d.connection = connection(to, from);
      d.offset = s.place;
      d.peer_step = static_cast<std::uint32_t>(programs_[from].steps.size());
      programs_[from].connections[s.connection].sends += 1;
      sink.connections[d.connection].receives += 1;
      sends.push_back(add_step(from, s));
      receives.push_back(add_step(to, d));
    }
    known_[from].operations[send] = {sends, done_with(from, sends)};
    // What it requires comes to a join, too: nothing holds its messages back.
    const Operation& r = graph_.ranks[to][receive];
    known_[to].operations[receive] = {{}, receives.size() > 1 || !r.after.empty() || !r.with.empty() ? joined(to, receives) : receives[0]};
    known_[to].operations[receive].first = {known_[to].operations[receive].done};
  }

  std::uint32_t joined(std::uint32_t r, const std::vector<std::uint32_t>& steps) {
    const std::uint32_t join = add_join(r);
    for (const std::uint32_t s : steps) wait(r, join, s);
    return join;
  }
  std::uint32_t done_with(std::uint32_t r, const std::vector<std::uint32_t>& steps) {
    return steps.size() == 1 ? steps[0] : joined(r, steps);
  }

  void add_waits(std::uint32_t r, std::uint32_t i) {
    // What those require that it starts with, and those in turn.
    std::vector<std::uint32_t> all;
    std::vector<std::uint32_t> open{i};
    std::vector<std::uint32_t> seen;
    while (!open.empty()) {
      const Operation& o = graph_.ranks[r][open.back()];
      open.pop_back();
      for (const std::uint32_t before : o.after) all.push_back(known_[r].operations[before].done);
      for (const std::uint32_t with : o.with)
        if (std::ranges::find(seen, with) == seen.end()) {
          seen.push_back(with);
          open.push_back(with);
        }
    }
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const std::vector<std::uint32_t> first = known_[r].operations[i].first;
    if (all.size() > 1 && first.size() > 1) {
      all = {joined(r, all)};
    }
    for (const std::uint32_t step : first)
      for (const std::uint32_t before : all) wait(r, step, before);
  }

  void finish_rank(std::uint32_t r) {
    RankProgram& p = programs_[r];
    for (std::size_t i = 0; i < p.steps.size(); ++i) {
      p.steps[i].first_after = static_cast<std::uint32_t>(p.after.size());
      p.after.insert(p.after.end(), known_[r].after[i].begin(), known_[r].after[i].end());
      p.steps[i].end_after = static_cast<std::uint32_t>(p.after.size());
    }
  }

  const JobGraph& graph_;
  const Matches& matches_;
  const CompileOptions& options_;
  std::vector<RankProgram> programs_;
  std::vector<Rank> known_;
};

}  // namespace

std::vector<RankProgram> compile(const JobGraph& graph, const Matches& matches, const CompileOptions& options) {
  return Compiler(graph, matches, options).run();
}

}  // namespace railyard::jobs
