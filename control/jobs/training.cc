#include "control/jobs/training.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "control/collectives/skewed_matrix.h"
#include "control/jobs/graph_builder.h"
#include "dataplane/base/hash.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;
using collectives::Operation::kAllGather;
using collectives::Operation::kAllReduce;
using collectives::Operation::kAllToAll;
using collectives::Operation::kReduceScatter;

// Of a rank's operations, by number; kNothing: there is none to wait for.
constexpr std::uint32_t kNothing = ~std::uint32_t{0};

// The layers of a chunk are shared out among segments, the first ones with one more if they do not come out even.
int layers_of(int layers, int segments, int segment) { return layers / segments + (segment < layers % segments ? 1 : 0); }

// Makes the graph rank by rank. All members of a communicator use it in the same order, so the n-th use of each belongs
// together.
class Builder {
 public:
  Builder(const Training& training, const Course& course)
      : t_(training), p_(training.parallelism), graph_(static_cast<std::size_t>(p_.ranks() + t_.storage.ranks)) {
    for (const auto& [step, time] : course.restarts) restarts_.emplace_back(graph_.occasion({step}), time);
    if (t_.storage.ranks == 0) return;
    restores_ = graph_.occasion(course.restores);
    checkpoints_ = graph_.occasion(course.checkpoints);
  }

  JobGraph run() {
    for (std::uint32_t r = 0; r < static_cast<std::uint32_t>(p_.ranks()); ++r) {
      rank_ = r;
      at_ = coordinates(p_, static_cast<int>(r));
      computed_ = communicated_ = kNothing;
      uses_.clear();
      add_rank();
    }
    return graph_.take();
  }

 private:
  // ---- Sizes -------------------------------------------------------------------------------------------------------

  int stage() const { return at_[static_cast<std::size_t>(Axis::kPipeline)]; }
  int stages() const { return p_.degree(Axis::kPipeline); }
  int chunk_layers() const { return t_.model.layers / (stages() * t_.chunks); }
  bool is_first(int chunk) const { return stage() == 0 && chunk == 0; }
  bool is_last(int chunk) const { return stage() == stages() - 1 && chunk == t_.chunks - 1; }
  // Of a microbatch at a rank, before the tensor axis shares anything out.
  double tokens() const {
    return static_cast<double>(t_.microbatch_size) * t_.used_sequence() / p_.degree(Axis::kContext);
  }
  double tensor() const { return p_.degree(Axis::kTensor); }
  double activations() const { return tokens() * t_.model.hidden * t_.activation_octets; }

  // Parameters of a segment at this rank: those that all ranks of the data axis have, and those of its experts.
  double shared_parameters(int chunk, int segment) const {
    const Model& m = t_.model;
    const int layers = layers_of(chunk_layers(), t_.used_segments(), segment);
    double all = layers * (static_cast<double>(m.attention_parameters()) + static_cast<double>(m.router_parameters()) +
                           (m.experts > 0 ? 0 : static_cast<double>(m.mlp_parameters())));
    if (is_first(chunk) && segment == 0) all += static_cast<double>(m.embedding_parameters());
    if (is_last(chunk) && segment == t_.used_segments() - 1) all += static_cast<double>(m.embedding_parameters());
    return all / tensor();
  }
  double expert_parameters(int segment) const {
    const Model& m = t_.model;
    if (m.experts == 0) return 0;
    const int layers = layers_of(chunk_layers(), t_.used_segments(), segment);
    return layers * static_cast<double>(m.mlp_parameters()) * m.experts / p_.expert / tensor();
  }

  // Time of one half of a segment in a pass.
  Duration time_of(bool forward, bool attention, int chunk, int segment) const {
    const int layers = layers_of(chunk_layers(), t_.used_segments(), segment);
    if (const Duration said = forward ? t_.forward : t_.backward; said > Duration{} || t_.flops == 0) {
      // Halves and segments add up to what was said, to the picosecond.
      const std::int64_t parts = 2 * std::int64_t{chunk_layers()} * t_.chunks;
      std::int64_t before = 2 * std::int64_t{chunk} * chunk_layers();
      for (int s = 0; s < segment; ++s) before += 2 * layers_of(chunk_layers(), t_.used_segments(), s);
      if (!attention) before += layers;
      const auto until = [&](std::int64_t part) { return static_cast<std::int64_t>(Int128{said.ps} * part / parts); };
      return Duration{until(before + layers) - until(before)};
    }
    const Model& m = t_.model;
    double flops = layers * (attention ? m.attention_flops(t_.used_sequence()) : m.mlp_flops());
    if (!attention && is_last(chunk) && segment == t_.used_segments() - 1) flops += m.output_flops();
    flops *= tokens() / tensor() * (forward ? 1 : 2);
    return Duration{static_cast<std::int64_t>(flops / t_.flops * 1e12)};
  }

  // ---- Operations --------------------------------------------------------------------------------------------------

  std::uint32_t add(Operation o, std::initializer_list<std::uint32_t> after) {
    for (const std::uint32_t a : after)
      if (a != kNothing) o.after.push_back(a);
    std::ranges::sort(o.after);
    o.after.erase(std::unique(o.after.begin(), o.after.end()), o.after.end());
    return graph_.add(rank_, std::move(o));
  }

  // In the rank's only stream, after `also` as well.
  void compute(Duration time, std::uint32_t named, std::uint32_t also = kNothing) {
    computed_ = add({.kind = Kind::kCompute, .time = time, .label = named}, {computed_, also});
  }

  // Nothing: nobody is there to communicate with, or there is nothing to say.
  std::uint32_t collective(collectives::Operation operation, const std::vector<std::uint32_t>& ranks, double octets,
                           std::uint32_t named, std::initializer_list<std::uint32_t> after) {
    if (ranks.size() < 2 || octets < 1) return kNothing;
    const std::uint32_t group = graph_.communicator(ranks);
    const std::pair key{group, uses_[group]++};
    auto found = collectives_.find(key);
    if (found == collectives_.end())
      found = collectives_.emplace(key, graph_.collective({.operation = operation, .communicator = group,
                                                           .octets = static_cast<std::uint64_t>(std::ceil(octets))})).first;
    return add({.kind = Kind::kCollective, .collective = found->second, .label = named}, after);
  }
  // What holds computing up.
  std::uint32_t held_up(collectives::Operation operation, const std::vector<std::uint32_t>& ranks, double octets,
                        std::uint32_t named) {
    const std::uint32_t c = collective(operation, ranks, octets, named, {computed_});
    if (c != kNothing) computed_ = c;
    return c;
  }
  // What goes on beside it, after what went on before.
  std::uint32_t beside(collectives::Operation operation, const std::vector<std::uint32_t>& ranks, double octets,
                       std::initializer_list<std::uint32_t> after) {
    const std::uint32_t first = add_all(after);
    const std::uint32_t c = collective(operation, ranks, octets, graph_.label("dp"), {first, communicated_});
    if (c == kNothing) return kNothing;
    communicated_ = c;
    if (!t_.overlap) computed_ = c;
    return c;
  }
  // One of several, or an operation that waits for them.
  std::uint32_t add_all(std::initializer_list<std::uint32_t> of) {
    std::uint32_t only = kNothing;
    int count = 0;
    for (const std::uint32_t o : of)
      if (o != kNothing) {
        only = o;
        ++count;
      }
    if (count < 2) return only;
    return add({.kind = Kind::kCompute}, of);
  }

  void add_tensor(double octets, bool before) {
    const std::vector<std::uint32_t> ranks = group(p_, at_, {Axis::kTensor});
    if (t_.sequence_parallel)
      held_up(before ? kAllGather : kReduceScatter, ranks, octets, graph_.label("tp"));
    else if (!before)
      held_up(kAllReduce, ranks, octets, graph_.label("tp"));
  }

  void add_experts(int layers) {
    if (t_.model.experts == 0) return;
    const std::vector<std::uint32_t> ranks = data_neighbours(p_, at_, p_.expert);
    // With sequence parallelism each tensor rank sends its part of the tokens.
    const double octets =
        layers * activations() * t_.model.experts_per_token / (t_.sequence_parallel ? tensor() : 1);
    const std::uint32_t c = held_up(kAllToAll, ranks, octets, graph_.label("ep"));
    if (c == kNothing || t_.expert_skew == 0) return;
    const std::uint32_t number = graph_.at(rank_, c).collective;
    Collective& all = graph_.at(number);
    if (!all.matrix.empty()) return;
    const auto n = static_cast<std::uint32_t>(ranks.size());
    all.octets = std::max<std::uint64_t>((all.octets + 4 * n - 1) / (4 * n), 1) * 4 * n;
    all.matrix = collectives::skewed_matrix(n, all.octets, 4, t_.expert_skew,
                                            mix64(t_.seed + number));
  }

  // ---- Data parallelism --------------------------------------------------------------------------------------------

  // Whoever has the same parameters is fewer.
  int shard() const { return t_.shard > 0 ? t_.shard : p_.ranks(); }

  // Gradients of `parameters` that all ranks of the data axis have, or those with the same experts.
  void reduce_gradients(double parameters, int shared_by, bool experts, std::uint32_t after) {
    const double octets = parameters * t_.gradient_octets / t_.compression;
    const std::vector<std::uint32_t> everybody =
        experts ? with_context(data_replicas(p_, at_, p_.expert)) : group(p_, at_, {Axis::kContext, Axis::kData});
    if (t_.sharding == Sharding::kNone) {
      beside(kAllReduce, everybody, octets, {after});
      return;
    }
    const int of_shard = std::min<int>(shared_by, static_cast<int>(everybody.size()));
    if (of_shard >= static_cast<int>(everybody.size())) {
      beside(kReduceScatter, everybody, octets, {after});
      return;
    }
    beside(kReduceScatter, part_of(everybody, of_shard, true), octets, {after});
    beside(kAllReduce, part_of(everybody, of_shard, false), octets / of_shard, {after});
  }
  void gather_parameters(double parameters, int shared_by, bool experts, std::initializer_list<std::uint32_t> after) {
    const std::vector<std::uint32_t> everybody =
        experts ? with_context(data_replicas(p_, at_, p_.expert)) : group(p_, at_, {Axis::kContext, Axis::kData});
    const int of_shard = std::min<int>(shared_by, static_cast<int>(everybody.size()));
    beside(kAllGather, part_of(everybody, of_shard, true), parameters * t_.parameter_octets, after);
  }
  // Those of the same place on the data axis share a context, too.
  std::vector<std::uint32_t> with_context(const std::vector<std::uint32_t>& ranks) const {
    std::vector<std::uint32_t> all;
    for (const std::uint32_t r : ranks)
      for (const std::uint32_t same : group(p_, coordinates(p_, static_cast<int>(r)), {Axis::kContext})) all.push_back(same);
    std::ranges::sort(all);
    return all;
  }
  // Of `all`, this rank's run of `size` neighbours; or those of the same place in each run.
  std::vector<std::uint32_t> part_of(const std::vector<std::uint32_t>& all, int size, bool run) const {
    const auto place = static_cast<int>(std::ranges::find(all, rank_) - all.begin());
    std::vector<std::uint32_t> part;
    for (int i = 0; i < static_cast<int>(all.size()); ++i)
      if (run ? i / size == place / size : i % size == place % size) part.push_back(all[static_cast<std::size_t>(i)]);
    return part;
  }

  // ZeRO-3: before a segment is computed, its parameters must be there.
  std::uint32_t gather_segment(int chunk, int segment) {
    if (t_.sharding != Sharding::kZero3) return kNothing;
    const std::uint32_t before = communicated_;
    const std::uint32_t after = computed_;
    gather_parameters(shared_parameters(chunk, segment), shard(), false, {after});
    gather_parameters(expert_parameters(segment), shard(), true, {after});
    return communicated_ == before ? kNothing : communicated_;
  }

  // ---- Passes ------------------------------------------------------------------------------------------------------

  // `parameters`, `ready`: what it waits for, beside what the rank has computed.
  void add_segment(const Pass& pass, int segment, std::uint32_t named, std::uint32_t parameters, std::uint32_t ready) {
    const int layers = layers_of(chunk_layers(), t_.used_segments(), segment);
    const auto attention = [&] {
      const double kv = 2 * tokens() * static_cast<double>(t_.model.kv_width()) * t_.activation_octets / tensor() * layers *
                        p_.degree(Axis::kContext);
      const std::vector<std::uint32_t> ranks = group(p_, at_, {Axis::kContext});
      if (pass.forward) held_up(kAllGather, ranks, kv, graph_.label("cp"));
      add_tensor(layers * activations(), true);
      compute(time_of(pass.forward, true, pass.chunk, segment), named);
      if (!pass.forward) held_up(kReduceScatter, ranks, kv, graph_.label("cp"));
      add_tensor(layers * activations(), false);
    };
    const auto mlp = [&] {
      add_experts(layers);
      add_tensor(layers * activations(), true);
      compute(time_of(pass.forward, false, pass.chunk, segment), named);
      add_experts(layers);
      add_tensor(layers * activations(), false);
    };
    wait_for(ready, parameters);
    if (pass.forward) {
      attention();
      mlp();
    } else {
      mlp();
      attention();
    }
  }
  // The rank computes nothing more before these are done.
  void wait_for(std::uint32_t a, std::uint32_t b = kNothing) {
    if (a != kNothing || b != kNothing) computed_ = add({.kind = Kind::kCompute}, {computed_, a, b});
  }

  std::uint32_t neighbour(int by) const {
    Coordinates to = at_;
    to[static_cast<std::size_t>(Axis::kPipeline)] = (stage() + by + stages()) % stages();
    return static_cast<std::uint32_t>(rank_at(p_, to));
  }
  // A message between chunks, named by the one that receives it.
  std::uint32_t tag(bool forward, int microbatch, int chunk) const {
    return static_cast<std::uint32_t>((microbatch * t_.chunks + chunk) * 2 + (forward ? 0 : 1));
  }
  std::uint64_t message() const {
    return static_cast<std::uint64_t>(std::ceil(activations() / (t_.sequence_parallel ? tensor() : 1)));
  }

  void add_pass(const Pass& pass, bool last_of_chunk) {
    const std::uint32_t named = graph_.label(fmt::format("{}{}", pass.forward ? 'F' : 'B', pass.microbatch));
    const int in = pass.forward ? -1 : 1;
    std::uint32_t ready = kNothing;
    if (!(pass.forward ? is_first(pass.chunk) : is_last(pass.chunk)) && stages() > 1)
      ready = add({.kind = Kind::kReceive, .peer = neighbour(in), .tag = tag(pass.forward, pass.microbatch, pass.chunk),
                   .octets = message(), .label = graph_.label("pp")}, {});
    const int segments = t_.used_segments();
    const auto nth = [&](int i) { return pass.forward ? i : segments - 1 - i; };
    std::uint32_t parameters = gather_segment(pass.chunk, nth(0));
    for (int i = 0; i < segments; ++i) {
      const int s = nth(i);
      // Those of the next segment are gathered while this one is computed, before this one's gradients go.
      const std::uint32_t next = i + 1 < segments ? gather_segment(pass.chunk, nth(i + 1)) : kNothing;
      add_segment(pass, s, named, std::exchange(parameters, next), i == 0 ? ready : kNothing);
      if (!pass.forward && (last_of_chunk || t_.sharding == Sharding::kZero3)) {
        reduce_gradients(shared_parameters(pass.chunk, s), shard(), false, computed_);
        reduce_gradients(expert_parameters(s), shard(), true, computed_);
      }
    }
    if (!(pass.forward ? is_last(pass.chunk) : is_first(pass.chunk)) && stages() > 1) {
      // The first stage of the next chunk follows the last one of this.
      const int next = pass.forward ? (stage() == stages() - 1 ? pass.chunk + 1 : pass.chunk)
                                    : (stage() == 0 ? pass.chunk - 1 : pass.chunk);
      add({.kind = Kind::kSend, .peer = neighbour(-in), .tag = tag(pass.forward, pass.microbatch, next),
           .octets = message(), .label = graph_.label("pp")}, {computed_});
    }
  }

  // ---- Storage -----------------------------------------------------------------------------------------------------

  // Of a whole copy, what this rank stores.
  std::uint64_t checkpoint() const {
    double shared = 0, of_experts = 0;
    for (int chunk = 0; chunk < t_.chunks; ++chunk)
      for (int s = 0; s < t_.used_segments(); ++s) {
        shared += shared_parameters(chunk, s);
        of_experts += expert_parameters(s);
      }
    const double copies = p_.degree(Axis::kContext) * p_.degree(Axis::kData);
    return static_cast<std::uint64_t>(std::ceil((shared + of_experts * p_.expert) / copies * t_.storage.parameter_octets));
  }
  // Those of the first stage read whole sequences for their tensor group, each its part of the context.
  std::uint64_t samples() const {
    if (stage() != 0 || at_[static_cast<std::size_t>(Axis::kTensor)] != 0) return 0;
    return static_cast<std::uint64_t>(t_.storage.sample.n) * static_cast<std::uint64_t>(t_.microbatches) *
           static_cast<std::uint64_t>(t_.microbatch_size) / static_cast<std::uint64_t>(p_.degree(Axis::kContext));
  }
  std::uint32_t store() const { return static_cast<std::uint32_t>(p_.ranks()) + rank_ % static_cast<std::uint32_t>(t_.storage.ranks); }

  // A small message there, and what is asked for back.
  std::uint32_t read(std::uint64_t octets, std::uint32_t tag, std::uint32_t occasion, std::string_view name, std::uint32_t after) {
    const std::uint32_t named = graph_.label(name);
    add({.kind = Kind::kSend, .peer = store(), .tag = tag, .octets = kNote, .label = named, .occasion = occasion}, {after});
    const std::uint32_t asked = graph_.add(store(), {.kind = Kind::kReceive, .peer = rank_, .tag = tag, .octets = kNote,
                                                     .label = named, .occasion = occasion});
    graph_.add(store(), {.kind = Kind::kSend, .peer = rank_, .tag = tag, .octets = octets, .label = named, .occasion = occasion,
                         .after = {asked}});
    return add({.kind = Kind::kReceive, .peer = store(), .tag = tag, .octets = octets, .label = named, .occasion = occasion}, {});
  }

  // Tags of storage: no stage is told so.
  static constexpr std::uint32_t kRestoreTag = 0, kSamplesTag = 1, kCheckpointTag = 2;
  // Of messages among the job's ranks that no stage sends.
  static constexpr std::uint32_t kStoredTag = 1u << 30, kGoOnTag = kStoredTag + 1;
  static constexpr std::uint64_t kNote = 64;  // octets of a request, and of what ranks tell each other

  void begin_step() {
    for (const auto& [occasion, time] : restarts_)
      computed_ = add({.kind = Kind::kCompute, .idle = true, .time = time, .label = graph_.label(kRestart), .occasion = occasion}, {computed_});
    if (restores_ != 0) {
      // Parameters are read by all that have them, the rest by who keeps it.
      const double copies = p_.degree(Axis::kContext) * p_.degree(Axis::kData);
      const double parameters = static_cast<double>(checkpoint()) / t_.storage.parameter_octets * t_.parameter_octets * (copies - 1);
      wait_for(read(checkpoint() + static_cast<std::uint64_t>(parameters), kRestoreTag, restores_, kRestore, computed_));
    }
    if (t_.storage.ranks > 0 && samples() > 0) read(samples(), kSamplesTag, 0, kSamples, computed_);
  }
  void end_step() {
    if (checkpoints_ == 0) return;
    const std::uint32_t named = graph_.label(kCheckpoint);
    // The step is done when it is stored, by all.
    wait_for(add({.kind = Kind::kSend, .peer = store(), .tag = kCheckpointTag, .octets = checkpoint(), .label = named,
                  .occasion = checkpoints_}, {computed_, communicated_}));
    graph_.add(store(), {.kind = Kind::kReceive, .peer = rank_, .tag = kCheckpointTag, .octets = checkpoint(), .label = named,
                         .occasion = checkpoints_});
    wait_for_all(graph_.label("barrier"), checkpoints_);
  }
  // A barrier: along a binary tree of the ranks to the first one, and back.
  void wait_for_all(std::uint32_t named, std::uint32_t occasion) {
    const auto to = [&](std::uint32_t peer, std::uint32_t tag) {
      add({.kind = Kind::kSend, .peer = peer, .tag = tag, .octets = kNote, .label = named, .occasion = occasion}, {computed_});
    };
    const auto from = [&](std::uint32_t peer, std::uint32_t tag) {
      wait_for(add({.kind = Kind::kReceive, .peer = peer, .tag = tag, .octets = kNote, .label = named, .occasion = occasion}, {}));
    };
    const auto last = static_cast<std::uint32_t>(p_.ranks());
    const std::uint32_t first = 2 * rank_ + 1, end = std::max(first, std::min(first + 2, last));
    for (std::uint32_t child = first; child < end; ++child) from(child, kStoredTag);
    if (rank_ > 0) {
      const std::uint32_t parent = (rank_ - 1) / 2;
      to(parent, kStoredTag);
      from(parent, kGoOnTag);
    }
    for (std::uint32_t child = first; child < end; ++child) to(child, kGoOnTag);
  }

  void add_rank() {
    begin_step();
    const std::vector<Pass> order = passes(t_.schedule, stage(), stages(), t_.chunks, t_.microbatches);
    std::vector<int> left(static_cast<std::size_t>(t_.chunks), t_.microbatches);
    for (const Pass& pass : order)
      add_pass(pass, !pass.forward && --left[static_cast<std::size_t>(pass.chunk)] == 0);
    // Every gradient is there before the parameters change.
    wait_for(communicated_);
    if (t_.optimizer > Duration{}) compute(t_.optimizer, graph_.label("optimizer"));
    if (t_.sharding == Sharding::kZero1 || t_.sharding == Sharding::kZero2)
      for (int chunk = 0; chunk < t_.chunks; ++chunk)
        for (int s = 0; s < t_.used_segments(); ++s) {
          gather_parameters(shared_parameters(chunk, s), shard(), false, {computed_});
          gather_parameters(expert_parameters(s), shard(), true, {computed_});
        }
    end_step();
  }

  const Training& t_;
  const Parallelism& p_;
  GraphBuilder graph_;
  std::vector<std::pair<std::uint32_t, Duration>> restarts_;  // by occasion
  std::uint32_t restores_ = 0, checkpoints_ = 0;              // occasions; 0: there are none
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> collectives_;  // by communicator and use
  // Of the rank that is made:
  std::uint32_t rank_ = 0;
  Coordinates at_{};
  std::uint32_t computed_ = kNothing;      // what the next thing to compute waits for
  std::uint32_t communicated_ = kNothing;  // the last one beside it
  std::map<std::uint32_t, std::uint32_t> uses_;  // by communicator
};

}  // namespace

int Training::used_segments() const noexcept {
  const int layers = model.layers / (parallelism.degree(Axis::kPipeline) * chunks);
  return segments > 0 ? std::min(segments, layers) : layers;
}

JobGraph make_graph(const Training& training) { return make_graph(training, course(training.storage)); }
JobGraph make_graph(const Training& training, const Course& course) { return Builder(training, course).run(); }

Volumes volumes(const JobGraph& graph, std::uint32_t rank) {
  Volumes all;
  for (const Operation& o : graph.ranks[rank]) {
    if (o.occasion != 0) continue;
    double octets = 0;
    if (o.kind == Kind::kSend) octets = static_cast<double>(message_octets(o.octets));
    if (o.kind == Kind::kCollective) {
      const Collective& c = graph.collectives[o.collective];
      const std::vector<std::uint32_t>& members = graph.communicators[c.communicator];
      const auto n = static_cast<std::uint32_t>(members.size());
      octets = collectives::busbw_factor(c.operation, n) * static_cast<double>(collective_octets(graph, c));
      if (!c.matrix.empty()) {
        const auto place = static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
        octets = 0;
        for (std::size_t q = 0; q < n; ++q)
          if (q != place) octets += static_cast<double>(c.matrix[place * n + q]);
      }
    }
    const std::string& label = graph.labels[o.label];
    if (label == "tp") all.tensor += octets;
    if (label == "cp") all.context += octets;
    if (label == "ep") all.expert += octets;
    if (label == "pp") all.pipeline += octets;
    if (label == "dp") all.data += octets;
  }
  return all;
}

std::uint64_t checkpoint_octets(const JobGraph& graph) noexcept {
  std::uint64_t all = 0;
  for (const auto& own : graph.ranks)
    for (const Operation& o : own)
      if (o.kind == Kind::kSend && graph.labels[o.label] == kCheckpoint) all += message_octets(o.octets);
  return all;
}

double step_flops(const Training& t) noexcept {
  const double tokens = static_cast<double>(t.microbatches) * t.microbatch_size * t.used_sequence() *
                        t.parallelism.degree(Axis::kData);
  return 3 * tokens * t.model.forward_flops(t.used_sequence());
}

}  // namespace railyard::jobs
