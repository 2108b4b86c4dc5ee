#include "control/jobs/compile.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "control/collectives/scale_up_latency.h"
#include "dataplane/base/hash.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using Step = CollectiveStep;

// Octets are named by numbers below this (CollectiveRank).
constexpr std::uint64_t kIdentities = std::uint64_t{1} << 40;
// What those of collectives are drawn from.
constexpr std::uint64_t kCollectiveNames = std::uint64_t{1} << 32;

class Compiler {
 public:
  Compiler(const JobGraph& graph, const Matches& matches, const CompileOptions& options)
      : graph_(graph), groups_(std::make_shared<const std::vector<std::vector<std::uint32_t>>>(graph.communicators)),
        occasions_(std::make_shared<const std::vector<std::vector<std::uint32_t>>>(graph.occasions)),
        matches_(matches), options_(options), shapes_(graph, options), ranks_(static_cast<std::uint32_t>(graph.ranks.size())),
        programs_(graph.ranks.size() + options.reduction.latency.size()), known_(programs_.size()) {
    // Whoever is in no scale-up network is in one of its own.
    for (std::uint32_t r = 0; r < ranks_; ++r) network_.push_back(options.host.empty() ? r : options.host[r]);
    for (std::uint32_t i = ranks_; i < programs_.size(); ++i) network_.push_back(Step::kNone - i);
    for (std::uint32_t n = 0; n < options.reduction.of_network.size(); ++n)
      if (const auto reducer = options.reduction.in_network(n)) network_[ranks_ + *reducer] = n;
  }

  std::vector<RankProgram> run(std::vector<OperationSteps>* steps) {
    for (const Collective& c : graph_.collectives) plan(c);
    for (std::uint32_t r = 0; r < ranks_; ++r) start_rank(r);
    for (std::uint32_t r = ranks_; r < programs_.size(); ++r) start_reducer(r);
    for (std::uint32_t r = 0; r < ranks_; ++r)
      for (std::uint32_t i = 0; i < graph_.ranks[r].size(); ++i) add_operation(r, i);
    for (std::uint32_t c = 0; c < graph_.collectives.size(); ++c) add_collective(c);
    for (std::uint32_t r = 0; r < ranks_; ++r)
      for (std::uint32_t i = 0; i < graph_.ranks[r].size(); ++i) add_waits(r, i);
    for (std::uint32_t r = 0; r < programs_.size(); ++r) {
      if (programs_[r].steps.empty() && r < ranks_) add_join(r);  // who has nothing to do is done at once
      finish_rank(r);
      if (steps != nullptr) steps->push_back(steps_of(r));
    }
    return std::move(programs_);
  }

 private:
  // The steps of an operation: those that it begins with, and the one by which it is done.
  struct Known {
    std::vector<std::uint32_t> first;
    std::uint32_t done = Step::kNone;
    std::vector<std::uint32_t> own{};  // without those that only join others
  };
  // Where in a rank's memory, steps and cuts a collective is.
  struct Part {
    std::uint32_t operation = 0;  // of ranks
    std::uint32_t cut = 0;
    std::uint64_t data = 0, staging = 0;
    std::uint32_t step = 0;
  };
  struct Rank {
    std::vector<Known> operations;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> connections;  // by peer and channel
    std::vector<std::vector<std::uint32_t>> after;                                 // by step
    std::uint64_t sent = 0;                                                        // octets, so far
    std::map<std::uint32_t, Part> parts;                                           // by collective
  };
  // A collective's programs, by place in its communicator. Those of the same shape share them.
  using Plan = std::shared_ptr<const std::vector<RankProgram>>;

  // A collective's launch delays what its first messages lead to.
  static void launch(std::vector<RankProgram>& programs, Duration cost) {
    for (RankProgram& p : programs)
      for (Step& s : p.steps)
        if (s.receives() && programs[p.connections[s.connection].peer].steps[s.peer_step].waits_for == 0) s.time += cost;
  }

  void plan(const Collective& c) {
    const collectives::CollectiveShape& shape = shapes_.of(c);
    const auto n = static_cast<std::uint32_t>(graph_.communicators[c.communicator].size());
    for (const auto& [known, size, plan] : plans_)
      if (size == n && known == shape) {
        of_collective_.push_back(plan);
        return;
      }
    std::vector<RankProgram> programs = collectives::plan_collective(shape, n);
    launch(programs, shape.costs.launch);
    const auto plan = std::make_shared<const std::vector<RankProgram>>(std::move(programs));
    plans_.emplace_back(shape, n, plan);
    of_collective_.push_back(plan);
  }

  void start_rank(std::uint32_t r) {
    RankProgram& p = programs_[r];
    for (const Operation& o : graph_.ranks[r])
      if (o.kind == Kind::kSend) p.data_octets += message_octets(o.octets);
    // A rank that sends nothing has an element, so that it has memory at all.
    p.data_octets = std::max<std::uint64_t>(p.data_octets, 4);
    p.inputs.push_back({0, p.data_octets, r, 0});
    std::vector<std::uint64_t> cuts{0};
    for (std::uint32_t i = 0; i < graph_.ranks[r].size(); ++i)
      if (const Operation& o = graph_.ranks[r][i]; o.kind == Kind::kCollective) add_room(r, o.collective, i, 0, cuts);
    known_[r].operations.resize(graph_.ranks[r].size());
    start_program(r, std::move(cuts));
  }

  // It has memory for each collective that makes use of it.
  void start_reducer(std::uint32_t r) {
    programs_[r].reducer_latency = options_.reduction.latency[r - ranks_];
    programs_[r].data_octets = 4;
    std::vector<std::uint64_t> cuts{0};
    for (std::uint32_t c = 0; c < graph_.collectives.size(); ++c)
      if (const auto place = place_in_plan(c, r)) add_room(r, c, 0, *place, cuts);
    start_program(r, std::move(cuts));
  }

  // A reducer's place in the plan of a collective; nothing: it has no part in it.
  std::optional<std::uint32_t> place_in_plan(std::uint32_t collective, std::uint32_t reducer) const {
    const auto place = static_cast<std::uint32_t>(members_of(collective).size()) + reducer - ranks_;
    const std::vector<RankProgram>& plan = *of_collective_[collective];
    return place < plan.size() && !plan[place].steps.empty() ? std::optional(place) : std::nullopt;
  }

  const std::vector<std::uint32_t>& members_of(std::uint32_t collective) const {
    return graph_.communicators[graph_.collectives[collective].communicator];
  }

  // For a collective, behind all that there is.
  void add_room(std::uint32_t r, std::uint32_t collective, std::uint32_t operation, std::uint32_t place,
                std::vector<std::uint64_t>& cuts) {
    RankProgram& p = programs_[r];
    const RankProgram& plan = (*of_collective_[collective])[place];
    known_[r].parts[collective] = {.operation = operation, .cut = static_cast<std::uint32_t>(cuts.size()), .data = p.data_octets};
    // The last one is where the next part begins.
    for (std::size_t c = 0; c + 1 < plan.cuts->size(); ++c) cuts.push_back(p.data_octets + (*plan.cuts)[c]);
    p.data_octets += plan.data_octets;
    p.reduces = p.reduces || plan.reduces;
  }

  void start_program(std::uint32_t r, std::vector<std::uint64_t> cuts) {
    RankProgram& p = programs_[r];
    p.rank = r;
    p.ranks = ranks_;
    cuts.push_back(p.data_octets);
    p.cuts = std::make_shared<const std::vector<std::uint64_t>>(std::move(cuts));
    // Results of messages lie behind a gap: they are none of the runs between these.
    p.staging_octets = 4;
    p.groups = groups_;
    p.occasions = occasions_;
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

  std::uint32_t connection(std::uint32_t rank, std::uint32_t peer, std::uint32_t channel = 0) {
    std::vector<RankConnection>& mine = programs_[rank].connections;
    const auto [found, is_new] =
        known_[rank].connections.try_emplace({peer, channel}, static_cast<std::uint32_t>(mine.size()));
    if (is_new) {
      mine.push_back({.peer = peer, .channel = channel, .scale_up = network_[rank] == network_[peer]});
      mine.back().at_peer = connection(peer, rank, channel);
      programs_[peer].connections[mine.back().at_peer].at_peer = found->second;
    }
    return found->second;
  }

  void add_operation(std::uint32_t r, std::uint32_t i) {
    const Operation& o = graph_.ranks[r][i];
    if (o.kind == Kind::kCompute) {
      const std::uint32_t step = add_step(r, {.kind = Step::Kind::kCompute, .connection = o.stream,
                                              .time = o.idle ? o.time : of_rank(r, o.time), .occasion = o.occasion, .idle = o.idle});
      known_[r].operations[i] = {{step}, step, {step}};
    } else if (o.kind == Kind::kSend) {
      add_message(r, i, o.peer, matches_[r][i]);
    }
  }

  Duration of_rank(std::uint32_t r, Duration time) const {
    if (options_.slowness.empty()) return time;
    return Duration{static_cast<std::int64_t>(static_cast<double>(time.ps) * options_.slowness[r])};
  }

  // Of each part of a send of so many octets.
  Duration cost_of(std::uint64_t octets, bool scale_up) const {
    if (!options_.step_costs) return {};
    constexpr auto kSend = collectives::Operation::kSendRecv;
    const collectives::Protocol protocol = collectives::protocol_of_send(options_.protocol, octets);
    const collectives::ProtocolCosts costs = collectives::without_scale_up_latency(
        collectives::protocol_costs(protocol, collectives::kRing, kSend, {}, 1), collectives::kRing, kSend, {},
        options_.scale_up_latency);
    return scale_up ? costs.scale_up_step : costs.step;
  }

  // Both of its ends.
  void add_message(std::uint32_t from, std::uint32_t send, std::uint32_t to, std::uint32_t receive) {
    const std::uint64_t octets = message_octets(graph_.ranks[from][send].octets);
    std::vector<std::uint32_t> sends, receives;
    for (std::uint64_t done = 0; done < octets; done += options_.chunk) {
      RankProgram& sink = programs_[to];
      Step s{.kind = Step::Kind::kSend, .occasion = graph_.ranks[from][send].occasion};
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
      sink.results.push_back({s.place, s.octets, from, s.offset, s.occasion});
      Step d = s;
      d.kind = Step::Kind::kRelay;
      d.connection = connection(to, from);
      d.time = cost_of(octets, programs_[to].connections[d.connection].scale_up);
      d.offset = s.place;
      d.peer_step = static_cast<std::uint32_t>(programs_[from].steps.size());
      programs_[from].connections[s.connection].sends += 1;
      sink.connections[d.connection].receives += 1;
      sends.push_back(add_step(from, s));
      receives.push_back(add_step(to, d));
    }
    known_[from].operations[send] = {sends, done_with(from, sends), sends};
    // What it requires comes to a join, too: nothing holds its messages back.
    const Operation& r = graph_.ranks[to][receive];
    known_[to].operations[receive] = {
        {}, receives.size() > 1 || !r.after.empty() || !r.with.empty() ? joined(to, receives) : receives[0], receives};
    known_[to].operations[receive].first = {known_[to].operations[receive].done};
  }

  // Its programs, at all its ranks and reducers, in the places of memory that were left for it.
  void add_collective(std::uint32_t number) {
    const std::vector<RankProgram>& plan = *of_collective_[number];
    std::vector<std::uint32_t> members = members_of(number);
    for (std::uint32_t reducer = ranks_; members.size() < plan.size(); ++reducer) members.push_back(reducer);
    std::vector<Part> parts;
    for (const std::uint32_t r : members) {
      const RankProgram& p = programs_[r];
      const auto part = known_[r].parts.find(number);
      parts.push_back(part == known_[r].parts.end() ? Part{} : part->second);
      parts.back().staging = p.data_octets + p.staging_octets;
      parts.back().step = static_cast<std::uint32_t>(p.steps.size());
    }
    const std::uint32_t occasion = graph_.ranks[members[0]][parts[0].operation].occasion;
    for (std::uint32_t m = 0; m < members.size(); ++m)
      if (!plan[m].steps.empty() || members[m] < ranks_)
        add_part(number, members[m], plan[m], parts[m], members, parts, occasion);
  }

  static std::uint64_t place_in(const Part& part, const RankProgram& plan, std::uint64_t at) {
    return at < plan.data_octets ? part.data + at : part.staging + (at - plan.data_octets);
  }

  void add_part(std::uint32_t number, std::uint32_t r, const RankProgram& plan, const Part& own,
                const std::vector<std::uint32_t>& members, const std::vector<Part>& parts, std::uint32_t occasion) {
    const std::uint64_t name = mix64(kCollectiveNames + number);
    const std::uint64_t source = std::uint64_t{number + 1} << 40;  // as their octets are called by who makes real ones
    std::vector<std::uint32_t> first, last, all;
    for (std::uint32_t i = 0; i < plan.steps.size(); ++i) {
      Step s = plan.steps[i];
      const RankConnection& to = plan.connections[s.connection];
      s.connection = connection(r, members[to.peer], to.channel);
      RankConnection& mine = programs_[r].connections[s.connection];
      (s.kind == Step::Kind::kSend ? mine.sends : mine.receives) += 1;
      s.place = place_in(s.kind == Step::Kind::kSend ? parts[to.peer] : own, plan, s.place);
      s.offset = place_in(own, plan, s.offset);
      s.peer_step += parts[to.peer].step;
      s.identity = (name + s.identity) % (kIdentities - s.octets);
      s.first_cut += own.cut;
      s.end_cut += own.cut;
      if (s.relays != Step::kNone) s.relays += own.step;
      s.occasion = occasion;
      const std::uint32_t step = add_step(r, s);
      all.push_back(step);
      std::vector<std::uint32_t>& after = known_[r].after[step];
      for (std::uint32_t a = s.first_after; a < s.end_after; ++a) after.push_back(own.step + plan.after[a]);
      if (s.kind == Step::Kind::kSend) first.push_back(step);
      if (after.empty()) last.push_back(step);
    }
    RankProgram& p = programs_[r];
    p.staging_octets += plan.staging_octets;
    for (const CollectiveExtent& e : plan.inputs)
      p.inputs.push_back({own.data + e.offset, e.octets, members[e.rank], source + e.source_offset});
    for (const CollectiveExtent& e : plan.results)
      p.results.push_back({own.data + e.offset, e.octets,
                           e.is_sum() ? CollectiveExtent::sum_over(graph_.collectives[number].communicator) : members[e.rank],
                           source + e.source_offset, occasion});
    if (r >= ranks_) return;
    const std::uint32_t done = joined(r, last);
    first.push_back(done);
    known_[r].operations[own.operation] = {std::move(first), done, std::move(all)};
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
    std::vector<std::uint32_t> all;
    for (const std::uint32_t before : requirements(graph_.ranks[r], i)) all.push_back(known_[r].operations[before].done);
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

  OperationSteps steps_of(std::uint32_t r) const {
    OperationSteps out{std::vector<std::uint32_t>(programs_[r].steps.size(), Step::kNone), {}};
    for (std::uint32_t i = 0; i < known_[r].operations.size(); ++i) {
      const Known& known = known_[r].operations[i];
      for (const std::uint32_t step : known.own) out.of_step[step] = i;
      out.of_step[known.done] = i;
      out.done.push_back(known.done);
    }
    return out;
  }

  const JobGraph& graph_;
  std::vector<std::tuple<collectives::CollectiveShape, std::uint32_t, Plan>> plans_;
  std::vector<Plan> of_collective_;
  std::shared_ptr<const std::vector<std::vector<std::uint32_t>>> groups_;
  std::shared_ptr<const std::vector<std::vector<std::uint32_t>>> occasions_;
  const Matches& matches_;
  const CompileOptions& options_;
  Shapes shapes_;
  std::uint32_t ranks_;
  std::vector<std::uint32_t> network_;  // by rank, and behind the ranks by reducer: its scale-up network
  std::vector<RankProgram> programs_;
  std::vector<Rank> known_;
};

}  // namespace

std::vector<RankProgram> compile(const JobGraph& graph, const Matches& matches, const CompileOptions& options,
                                 std::vector<OperationSteps>* steps) {
  return Compiler(graph, matches, options).run(steps);
}

}  // namespace railyard::jobs
