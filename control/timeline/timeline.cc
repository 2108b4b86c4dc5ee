#include "control/timeline/timeline.h"

#include <algorithm>
#include <utility>

#include "control/spec/collective_ranks.h"
#include "transports/collectives/collective_rank.h"

namespace railyard::timeline {
namespace {

using Kind = Work::Operation::Kind;
using Step = CollectiveStep;

class Maker {
 public:
  Maker(const build::Collective& collective, const Work& work, const spec::CollectiveSpec& said)
      : collective_(collective), work_(work), said_(said) {}

  // Nothing: it is not complete.
  std::optional<RepeatTimes> repeat(std::size_t k) const {
    RepeatTimes out{.repeat = k, .from = Instant::never()};
    std::uint32_t last = 0;
    for (std::uint32_t r = 0; r < collective_.rank_count(); ++r) {
      const CollectiveRank& rank = *collective_.ranks[r];
      if (k >= rank.finished().size() || k >= rank.record()->repeats() || rank.finished()[k] == Instant::never())
        return std::nullopt;
      if (!spec::takes_part(said_, collective_.rank_count(), r, k)) continue;
      out.from = std::min(out.from, rank.started()[k]);
      if (rank.finished()[k] > out.to) last = r;
      out.to = std::max(out.to, rank.finished()[k]);
    }
    for (std::uint32_t r = 0; r < collective_.ranks.size(); ++r) out.ranks.push_back(rank(r, out, last));
    return out;
  }

 private:
  const StepTimes& times(std::uint32_t r, std::size_t k, std::uint32_t s) const {
    return collective_.ranks[r]->record()->at(k, s);
  }

  RankTimes rank(std::uint32_t r, const RepeatTimes& repeat, std::uint32_t last) const {
    RankTimes out;
    const RankProgram& p = collective_.ranks[r]->program();
    std::vector<Interval> computing, messages;
    std::vector<std::pair<Instant, std::uint32_t>> sent;  // messages to this rank: when, and by whom
    std::vector<Interval> operations(work_.operations[r].size(), {Instant::never(), Instant{}});
    for (std::uint32_t s = 0; s < p.steps.size(); ++s) {
      const Step& step = p.steps[s];
      Interval when{times(r, repeat.repeat, s).began, times(r, repeat.repeat, s).ended};
      if (step.receives()) {
        const std::uint32_t peer = p.connections[step.connection].peer;
        when.from = std::min(when.from, times(peer, repeat.repeat, step.peer_step).began);
        sent.emplace_back(when.from, peer);
      }
      // The last acknowledgements may come after the end.
      const Interval inside{std::clamp(when.from, repeat.from, repeat.to), std::clamp(when.to, repeat.from, repeat.to)};
      if (step.kind != Step::Kind::kCompute)
        messages.push_back(inside);
      else if (step.time > Duration{} && step.computes())
        computing.push_back(inside);
      if (const std::uint32_t o = work_.of_step[r][s]; o != Step::kNone) {
        operations[o].from = std::min(operations[o].from, inside.from);
        operations[o].to = std::max(operations[o].to, inside.to);
      }
    }
    for (std::uint32_t o = 0; o < operations.size(); ++o) {
      if (operations[o].from == Instant::never()) continue;
      if (work_.operations[r][o].kind == Kind::kCollective) operations[o].from = ready(r, o, operations, collective_.ranks[r]->started()[repeat.repeat]);
      if (operations[o].to > operations[o].from) out.slices.push_back({o, operations[o].from, operations[o].to});
    }
    std::ranges::stable_sort(out.slices, {}, &Slice::from);
    out.compute = joined(std::move(computing));
    messages = joined(std::move(messages));
    out.exposed = subtracted(messages, out.compute);
    std::ranges::sort(sent);
    for (const Interval& gap : subtracted(subtracted({own_part(r, repeat)}, out.compute), messages)) {
      const auto by = std::ranges::lower_bound(sent, std::pair{gap.to, std::uint32_t{0}});
      std::uint32_t whom = Waiting::kNobody;
      if (by != sent.end() && by->first == gap.to)
        whom = by->second;
      else if (gap.to == repeat.to && last != r)
        whom = last;
      out.waiting.push_back({gap, whom});
    }
    return out;
  }

  // A rank may begin the next repeat while others still end this one: each of its instants is of one repeat.
  Interval own_part(std::uint32_t r, const RepeatTimes& repeat) const {
    const std::vector<Instant>& started = collective_.ranks[r]->started();
    // Who only stores may be ahead.
    const Instant from = repeat.repeat == 0 ? repeat.from : std::clamp(started[repeat.repeat], repeat.from, repeat.to);
    return {from, repeat.repeat + 1 < started.size() ? std::clamp(started[repeat.repeat + 1], from, repeat.to) : repeat.to};
  }

  // When all that operation `o` requires is done.
  Instant ready(std::uint32_t r, std::uint32_t o, const std::vector<Interval>& operations, Instant start) const {
    Instant at = start;
    std::vector<std::uint32_t> open{o}, seen;
    while (!open.empty()) {
      const Work::Operation& operation = work_.operations[r][open.back()];
      open.pop_back();
      for (const std::uint32_t before : operation.after) at = std::max(at, operations[before].to);
      for (const std::uint32_t with : operation.with)
        if (std::ranges::find(seen, with) == seen.end()) {
          seen.push_back(with);
          open.push_back(with);
        }
    }
    return at;
  }

  const build::Collective& collective_;
  const Work& work_;
  const spec::CollectiveSpec& said_;
};

}  // namespace

std::optional<Timeline> timeline_of(const build::BuiltLab& lab, const build::Collective& collective) {
  std::vector<const RankProgram*> programs;
  for (const CollectiveRank* rank : collective.ranks) {
    if (rank->record() == nullptr) return std::nullopt;
    programs.push_back(&rank->program());
  }
  Timeline out;
  out.work = work_of(lab.spec(), lab.spec().collectives[collective.spec], collective.rank_nics(), programs);
  for (std::size_t r = 0; r < collective.ranks.size(); ++r)
    out.ranks.push_back(spec::format(lab.spec(), {collective.nics[r], collective.gpus[r]}));
  const spec::CollectiveSpec& c = lab.spec().collectives[collective.spec];
  out.working = collective.rank_count() - (c.is_job() ? static_cast<std::size_t>(c.job->training.storage.ranks) : 0);
  const Maker maker(collective, out.work, c);
  for (std::size_t k = 0; k < collective.ranks.front()->record()->repeats(); ++k)
    if (auto repeat = maker.repeat(k)) out.repeats.push_back(std::move(*repeat));
  return out;
}

}  // namespace railyard::timeline
