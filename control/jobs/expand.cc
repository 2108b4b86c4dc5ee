#include "control/jobs/expand.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using Step = CollectiveStep;

class Expander {
 public:
  Expander(const JobGraph& graph, const CompileOptions& options) : graph_(graph), options_(options) {}

  JobGraph run() {
    out_.labels = graph_.labels;
    out_.ranks.resize(graph_.ranks.size());
    for (const std::vector<Operation>& own : graph_.ranks)
      for (const Operation& o : own) used_tags_.insert(o.tag);
    for (const Collective& c : graph_.collectives) {
      plans_.push_back(collectives::plan_collective(
          shape_of(graph_, c, options_), static_cast<std::uint32_t>(graph_.communicators[c.communicator].size())));
      tags_.push_back(tags_of(plans_.back()));
    }
    for (std::uint32_t r = 0; r < graph_.ranks.size(); ++r) add_rank(r);
    return std::move(out_);
  }

 private:
  // By place and step of the collective: the tag of the message.
  using Tags = std::vector<std::vector<std::uint32_t>>;

  Tags tags_of(const std::vector<RankProgram>& plan) {
    Tags tags;
    for (const RankProgram& p : plan) tags.emplace_back(p.steps.size());
    for (std::uint32_t m = 0; m < plan.size(); ++m)
      for (std::uint32_t s = 0; s < plan[m].steps.size(); ++s)
        if (const Step& step = plan[m].steps[s]; step.kind == Step::Kind::kSend) {
          tags[m][s] = next_tag();
          tags[plan[m].connections[step.connection].peer][step.peer_step] = tags[m][s];
        }
    return tags;
  }

  std::uint32_t next_tag() {
    while (used_tags_.contains(next_tag_)) ++next_tag_;
    return next_tag_++;
  }

  void add_rank(std::uint32_t r) {
    const std::vector<Operation>& own = graph_.ranks[r];
    std::vector<Operation>& out = out_.ranks[r];
    // By operation of the graph: what it begins with and ends with here.
    std::vector<std::uint32_t> first(own.size()), last(own.size());
    for (std::uint32_t i = 0; i < own.size(); ++i) {
      first[i] = static_cast<std::uint32_t>(out.size());
      if (own[i].kind == Kind::kCollective)
        add_collective(r, own[i], out);
      else
        out.push_back(own[i]);
      last[i] = static_cast<std::uint32_t>(out.size() - 1);
    }
    for (std::uint32_t i = 0; i < own.size(); ++i) {
      Operation& o = out[first[i]];
      o.after.clear();
      o.with.clear();
      for (const std::uint32_t before : own[i].after) o.after.push_back(last[before]);
      for (const std::uint32_t with : own[i].with) o.with.push_back(first[with]);
    }
  }

  // From a beginning, whose dependencies are still to be set, to an end.
  void add_collective(std::uint32_t r, const Operation& part, std::vector<Operation>& out) {
    const Collective& c = graph_.collectives[part.collective];
    const std::vector<std::uint32_t>& members = graph_.communicators[c.communicator];
    const auto place = static_cast<std::size_t>(std::ranges::find(members, r) - members.begin());
    const RankProgram& p = plans_[part.collective][place];
    const auto begin = static_cast<std::uint32_t>(out.size());
    out.push_back({.kind = Kind::kCompute, .stream = kStream, .label = part.label, .line = part.line});
    std::vector<std::uint32_t> waited_for(p.steps.size());
    for (std::uint32_t s = 0; s < p.steps.size(); ++s) {
      const Step& step = p.steps[s];
      Operation o{.line = part.line};
      if (step.kind == Step::Kind::kCompute) {
        o.stream = kStream;
        o.time = step.time;
      } else {
        o.kind = step.kind == Step::Kind::kSend ? Kind::kSend : Kind::kReceive;
        o.peer = members[p.connections[step.connection].peer];
        o.tag = tags_[part.collective][place][s];
        o.octets = step.octets;
      }
      o.after.push_back(begin);
      out.push_back(std::move(o));
    }
    for (std::uint32_t s = 0; s < p.steps.size(); ++s)
      for (std::uint32_t i = p.steps[s].first_after; i < p.steps[s].end_after; ++i) {
        out[begin + 1 + p.after[i]].after.push_back(begin + 1 + s);
        ++waited_for[s];
      }
    Operation end{.kind = Kind::kCompute, .stream = kStream, .line = part.line};
    end.after.push_back(begin);
    for (std::uint32_t s = 0; s < p.steps.size(); ++s)
      if (waited_for[s] == 0) end.after.push_back(begin + 1 + s);
    out.push_back(std::move(end));
  }

  // Of computing that takes no time: behind nothing that does.
  static constexpr std::uint8_t kStream = 255;

  const JobGraph& graph_;
  const CompileOptions& options_;
  JobGraph out_;
  std::vector<std::vector<RankProgram>> plans_;
  std::vector<Tags> tags_;
  std::set<std::uint32_t> used_tags_;  // of the graph
  std::uint32_t next_tag_ = 0;
};

}  // namespace

JobGraph expanded(const JobGraph& graph, const CompileOptions& options) { return Expander(graph, options).run(); }

}  // namespace railyard::jobs
