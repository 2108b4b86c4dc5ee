#include "control/timeline/critical_path.h"

#include <algorithm>
#include <map>
#include <optional>

#include "transports/collectives/collective_rank.h"

namespace railyard::timeline {
namespace {

using Kind = PathPart::Kind;
using Step = CollectiveStep;

class Walk {
 public:
  Walk(const build::Collective& collective, const RepeatTimes& repeat) : collective_(collective), repeat_(repeat) {}

  std::vector<PathPart> run() {
    auto [rank, step] = last();
    for (Instant at = repeat_.to; step != Step::kNone && at > repeat_.from;) {
      add_step(rank, step, at);
      const std::optional<std::uint32_t> before = before_it(rank, step, at);
      if (!before) break;
      const Instant ended = std::max(times(rank, *before).ended, repeat_.from);
      if (ended < at) add({.kind = Kind::kWait, .rank = rank, .when = {ended, at}});
      at = ended;
      step = *before;
    }
    const Instant reached = parts_.empty() ? repeat_.to : parts_.back().when.from;
    if (reached > repeat_.from) add({.kind = Kind::kWait, .rank = rank, .when = {repeat_.from, reached}});
    std::ranges::reverse(parts_);
    return std::move(parts_);
  }

 private:
  const RankProgram& program(std::uint32_t r) const { return collective_.ranks[r]->program(); }
  const StepTimes& times(std::uint32_t r, std::uint32_t s) const {
    return collective_.ranks[r]->record()->at(repeat_.repeat, s);
  }

  // The step with which the last rank has its result.
  std::pair<std::uint32_t, std::uint32_t> last() const {
    for (std::uint32_t r = 0; r < collective_.ranks.size(); ++r) {
      if (collective_.ranks[r]->finished()[repeat_.repeat] != repeat_.to) continue;
      std::uint32_t found = Step::kNone;
      for (std::uint32_t s = 0; s < program(r).steps.size(); ++s)
        if (program(r).steps[s].kind != Step::Kind::kSend && times(r, s).ended == repeat_.to) found = s;
      if (found != Step::kNone) return {r, found};
    }
    return {0, Step::kNone};
  }

  void add(PathPart part) {
    part.when.from = std::max(part.when.from, repeat_.from);
    if (part.when.from < part.when.to) parts_.push_back(part);
  }

  // The step, which ended at `at`; then `rank` and `step` are whose start is to be explained, and `at` when that was.
  void add_step(std::uint32_t& rank, std::uint32_t& step, Instant& at) {
    const Step& s = program(rank).steps[step];
    const Instant to = at;
    if (s.kind == Step::Kind::kCompute) {
      at = std::min(at, times(rank, step).began);
      add({.kind = s.idle ? Kind::kWait : Kind::kCompute, .rank = rank, .when = {at, to}});
      return;
    }
    const RankConnection& c = program(rank).connections[s.connection];
    if (s.kind == Step::Kind::kSend) {
      at = std::min(at, times(rank, step).began);
      // Until its last octet is at the receiver it is a message.
      const Instant there = std::clamp(times(c.peer, s.peer_step).began, at, to);
      PathPart part{.kind = Kind::kAcknowledgement, .rank = rank, .peer = c.peer, .connection = s.connection, .octets = s.octets, .when = {there, to}};
      add(part);
      part.kind = Kind::kMessage;
      part.when = {at, there};
      add(part);
      return;
    }
    at = std::min(at, times(c.peer, s.peer_step).began);
    add({.kind = Kind::kMessage, .rank = c.peer, .peer = rank, .connection = c.at_peer, .octets = s.octets, .when = {at, to}});
    rank = c.peer;
    step = s.peer_step;
  }

  // What a step that began at `at` waited for last. Nothing: for nothing.
  std::optional<std::uint32_t> before_it(std::uint32_t rank, std::uint32_t step, Instant at) {
    std::optional<std::uint32_t> latest;
    const auto take = [&](std::uint32_t s) {
      if (!latest || times(rank, s).ended > times(rank, *latest).ended) latest = s;
    };
    for (const std::uint32_t s : before(rank)[step]) take(s);
    const Step& own = program(rank).steps[step];
    if (own.kind != Step::Kind::kCompute || own.time == Duration{} || (latest && times(rank, *latest).ended == at))
      return latest;
    // Its stream was busy until then.
    for (std::uint32_t s = 0; s < program(rank).steps.size(); ++s) {
      const Step& other = program(rank).steps[s];
      if (other.kind == Step::Kind::kCompute && other.connection == own.connection && other.time > Duration{} &&
          s != step && times(rank, s).ended == at && times(rank, s).began < at)  // else two could wait for each other
        return s;
    }
    return latest;
  }

  // By step: those that it waits for.
  const std::vector<std::vector<std::uint32_t>>& before(std::uint32_t rank) {
    const auto [found, is_new] = before_.try_emplace(rank);
    if (!is_new) return found->second;
    const RankProgram& p = program(rank);
    found->second.resize(p.steps.size());
    for (std::uint32_t s = 0; s < p.steps.size(); ++s)
      for (std::uint32_t i = p.steps[s].first_after; i < p.steps[s].end_after; ++i) found->second[p.after[i]].push_back(s);
    return found->second;
  }

  const build::Collective& collective_;
  const RepeatTimes& repeat_;
  std::vector<PathPart> parts_;
  std::map<std::uint32_t, std::vector<std::vector<std::uint32_t>>> before_;
};

}  // namespace

std::vector<PathPart> critical_path(const build::Collective& collective, const RepeatTimes& repeat) {
  return Walk(collective, repeat).run();
}

}  // namespace railyard::timeline
