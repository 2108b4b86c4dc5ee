#include "control/jobs/inference.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "control/jobs/graph_builder.h"
#include "dataplane/base/natural_log.h"
#include "dataplane/base/rng.h"

namespace railyard::jobs {
namespace {

using Kind = Operation::Kind;

constexpr int kActivationOctets = 2;
// The longest that a plan and its graph may be.
constexpr double kMostPlanned = 2e7;
constexpr double kMostOperations = 1 << 24;
// Larger all-reduces go in several.
constexpr double kMostAllReduce = 1u << 30;
constexpr int kMostTokens = 1 << 20;  // of a prompt or an output that is drawn

int kv_heads(const Model& m) { return m.kv_heads > 0 ? m.kv_heads : m.heads; }

// The first segments have one layer more if they do not come out even.
int segment_layers(const Inference& i, int segment) {
  const int segments = i.used_segments();
  return i.model.layers / segments + (segment < i.model.layers % segments ? 1 : 0);
}

// Parameters of a layer that so many tokens read: of experts those that any token chooses, if all are as likely.
double layer_weights(const Model& m, double tokens) {
  double mlps = 1;
  if (m.experts > 0) {
    const double others = 1 - static_cast<double>(m.experts_per_token) / m.experts;
    double nobody = 1;  // others ^ tokens
    double power = others;
    for (auto n = static_cast<std::uint64_t>(tokens); n > 0; n /= 2, power *= power)
      if (n % 2 != 0) nobody *= power;
    mlps = m.experts * (1 - nobody);
  }
  return static_cast<double>(m.attention_parameters()) + static_cast<double>(m.router_parameters()) +
         mlps * static_cast<double>(m.mlp_parameters());
}

Duration roofline(const Inference& i, int tp, double flops, double octets) {
  const double seconds = std::max(flops / i.flops, octets / i.memory) / tp;
  return Duration{static_cast<std::int64_t>(seconds * 1e12)};
}

double kv_of_token(const Inference& i, int layers) {
  return 2.0 * layers * static_cast<double>(i.model.kv_width()) * i.kv_octets;
}

// ---- The plan ------------------------------------------------------------------------------------------------------

class Draws {
 public:
  explicit Draws(const Inference& i) : i_(i), gaps_({i.seed}, "arrivals"), prompts_({i.seed}, "prompts"), outputs_({i.seed}, "outputs") {}

  // The first request arrives at the start.
  Duration arrival() {
    const Duration at = next_;
    if (i_.rate > 0) next_ += Duration{static_cast<std::int64_t>(exponential(gaps_) * 1e12 / i_.rate)};
    return at;
  }
  int prompt() { return length(prompts_, i_.prompt); }
  int output() { return length(outputs_, i_.output); }

 private:
  // Of mean 1.
  static double exponential(RngStream& rng) {
    return -natural_log(static_cast<double>((rng.next() >> 11) + 1) * 0x1p-53);  // of a number in (0, 1]
  }
  int length(RngStream& rng, int mean) const {
    if (i_.lengths == Lengths::kFixed) return mean;
    return static_cast<int>(std::clamp(exponential(rng) * mean + 0.5, 1.0, static_cast<double>(kMostTokens)));
  }

  const Inference& i_;
  RngStream gaps_, prompts_, outputs_;
  Duration next_{};
};

// A decode replica, iteration by iteration.
class Batches {
 public:
  Batches(const Inference& i, std::vector<Request>& requests)
      : i_(i), requests_(requests), slots_(static_cast<std::size_t>(i.batch)) {}

  // Requests that are there or wait.
  std::size_t load() const { return active_ + waiting_.size(); }

  void add(std::uint32_t request, Duration at) {
    if (load() == 0) now_ = std::max(now_, at);
    waiting_.push_back({request, at});
  }

  // All iterations that begin before `until`.
  void advance(Duration until) {
    while (load() > 0 && now_ < until) {
      admit();
      iterate();
    }
  }

 private:
  struct Waiting {
    std::uint32_t request;
    Duration since;
  };
  struct Slot {
    std::optional<std::uint32_t> request{};
    int made = 0;  // tokens
    Duration free_since{};
  };

  void admit() {
    for (std::size_t s = 0; s < slots_.size() && !waiting_.empty(); ++s) {
      Slot& slot = slots_[s];
      if (slot.request) continue;
      const auto [number, since] = waiting_.front();
      waiting_.pop_front();
      Request& r = requests_[number];
      r.slot = static_cast<int>(s);
      r.wait = now_ - std::max(since, slot.free_since);
      slot = {.request = number, .made = 0, .free_since = {}};
      context_ += r.prompt;
      ++active_;
    }
  }

  void iterate() {
    const Duration time = iteration_time(i_, static_cast<int>(active_), context_);
    now_ += time;
    for (Slot& slot : slots_) {
      if (!slot.request) continue;
      Request& r = requests_[*slot.request];
      (slot.made == 0 ? r.first : r.rest) += time;
      ++context_;
      if (++slot.made < r.output) continue;
      context_ -= r.prompt + r.output;
      slot = {.request = {}, .made = 0, .free_since = now_};
      --active_;
    }
  }

  const Inference& i_;
  std::vector<Request>& requests_;
  std::vector<Slot> slots_;
  std::deque<Waiting> waiting_;
  std::size_t active_ = 0;
  std::int64_t context_ = 0;  // tokens of all active requests
  Duration now_{};            // when the next iteration begins
};

// ---- The graph -----------------------------------------------------------------------------------------------------

class ServingBuilder {
 public:
  explicit ServingBuilder(const Inference& i)
      : i_(i), graph_(static_cast<std::size_t>(i.ranks())), requests_(plan(i)), operations_(requests_.size()) {}

  Serving run() {
    for (int p = 0; p < i_.prefill.replicas; ++p) add_prefill(p);
    for (int d = 0; d < i_.decode.replicas; ++d) add_decode(d);
    return {graph_.take(), std::move(requests_), std::move(operations_)};
  }

 private:
  std::uint32_t prefill_rank(int replica, int place) const { return static_cast<std::uint32_t>(replica * i_.prefill.tp + place); }
  std::uint32_t decode_rank(int replica, int place) const {
    return static_cast<std::uint32_t>(i_.prefill.ranks() + replica * i_.decode.tp + place);
  }
  std::vector<std::uint32_t> ranks_of(bool prefill, int replica) const {
    std::vector<std::uint32_t> all(static_cast<std::size_t>(prefill ? i_.prefill.tp : i_.decode.tp));
    std::iota(all.begin(), all.end(), prefill ? prefill_rank(replica, 0) : decode_rank(replica, 0));
    return all;
  }
  // Heads that a prefill rank has and a decode rank is to have.
  int shared_heads(int prefill, int decode) const {
    const int heads = kv_heads(i_.model);
    const int own = heads / i_.prefill.tp, wanted = heads / i_.decode.tp;
    return std::max(0, std::min((prefill + 1) * own, (decode + 1) * wanted) - std::max(prefill * own, decode * wanted));
  }
  std::uint64_t message(int tokens, int segment, int heads) const {
    const double of_head = kv_of_token(i_, segment_layers(i_, segment)) / kv_heads(i_.model);
    return static_cast<std::uint64_t>(of_head * heads * tokens);
  }
  std::uint32_t tag(std::uint32_t request, int segment) const {
    return request * static_cast<std::uint32_t>(i_.used_segments()) + static_cast<std::uint32_t>(segment);
  }

  // An all-reduce among the ranks of a replica, once; all of them take part in what is returned.
  std::vector<std::uint32_t> all_reduce(const std::vector<std::uint32_t>& ranks, double octets) {
    std::vector<std::uint32_t> all;
    if (ranks.size() < 2) return all;
    const auto parts = static_cast<int>(octets / kMostAllReduce) + 1;
    for (int p = 0; p < parts; ++p)
      all.push_back(graph_.collective({.operation = collectives::Operation::kAllReduce, .communicator = graph_.communicator(ranks),
                                       .octets = static_cast<std::uint64_t>(octets / parts)}));
    return all;
  }
  // A rank's part in it, after `after`; the last operation of it.
  std::uint32_t take_part(std::uint32_t rank, const std::vector<std::uint32_t>& all, std::uint32_t after) {
    for (const std::uint32_t c : all)
      after = graph_.add(rank, {.kind = Kind::kCollective, .collective = c, .label = graph_.label("tp"), .after = {after}});
    return after;
  }

  void add_prefill(int replica) {
    std::vector<std::uint32_t> own;
    for (std::uint32_t r = 0; r < requests_.size(); ++r)
      if (requests_[r].prefill == replica) own.push_back(r);
    const std::vector<std::uint32_t> ranks = ranks_of(true, replica);
    // By request and segment.
    std::vector<std::vector<std::uint32_t>> sums;
    for (const std::uint32_t r : own)
      for (int s = 0; s < i_.used_segments(); ++s)
        sums.push_back(all_reduce(ranks, 2.0 * segment_layers(i_, s) * requests_[r].prompt * i_.model.hidden * kActivationOctets));
    for (int place = 0; place < i_.prefill.tp; ++place) {
      const std::uint32_t rank = prefill_rank(replica, place);
      std::optional<std::uint32_t> arrived, computed;
      Duration last{};
      std::size_t next_sum = 0;
      for (const std::uint32_t r : own) {
        const Request& request = requests_[r];
        PrefillOperations& ops = operations_[r].prefill.emplace_back();
        ops.rank = rank;
        Operation arrival{.kind = Kind::kCompute, .idle = true, .stream = 1, .time = request.arrival - last, .label = graph_.label("wait")};
        if (arrived) arrival.after.push_back(*arrived);
        last = request.arrival;
        arrived = ops.arrival = graph_.add(rank, std::move(arrival));
        for (int s = 0; s < i_.used_segments(); ++s) {
          Operation compute{.kind = Kind::kCompute, .time = segment_time(i_, request.prompt, s),
                            .label = graph_.label(fmt::format("P{}", r))};
          if (computed) compute.after.push_back(*computed);
          if (s == 0) compute.after.push_back(*arrived);
          std::ranges::sort(compute.after);
          computed = graph_.add(rank, std::move(compute));
          if (s == 0) ops.first = *computed;
          const std::uint32_t there = *computed;
          for (int d = 0; d < i_.decode.tp; ++d) {
            const int heads = shared_heads(place, d);
            if (heads == 0) continue;
            const std::uint32_t send =
                graph_.add(rank, {.kind = Kind::kSend, .peer = decode_rank(request.decode, d), .tag = tag(r, s),
                                  .octets = message(request.prompt, s, heads), .label = graph_.label("kv"), .after = {there}});
            if (s == 0 && ops.first_send == 0) ops.first_send = send;
          }
          computed = take_part(rank, sums[next_sum++], there);
        }
        ops.last = *computed;
      }
    }
  }

  void add_decode(int replica) {
    // In the order in which they are prefilled, so that those of a slot follow each other.
    std::vector<std::uint32_t> own;
    for (std::uint32_t r = 0; r < requests_.size(); ++r)
      if (requests_[r].decode == replica) own.push_back(r);
    std::ranges::stable_sort(own, {}, [&](std::uint32_t r) { return requests_[r].prefilled; });
    const std::vector<std::uint32_t> ranks = ranks_of(false, replica);
    std::vector<std::vector<std::uint32_t>> sums;
    for (std::size_t n = 0; n < own.size(); ++n)
      sums.push_back(all_reduce(ranks, static_cast<double>(i_.model.hidden) * kActivationOctets));
    for (int place = 0; place < i_.decode.tp; ++place) {
      const std::uint32_t rank = decode_rank(replica, place);
      std::vector<std::optional<std::uint32_t>> slots(static_cast<std::size_t>(i_.batch));
      for (std::size_t n = 0; n < own.size(); ++n) add_request(own[n], rank, place, slots, sums[n]);
    }
  }

  void add_request(std::uint32_t r, std::uint32_t rank, int place, std::vector<std::optional<std::uint32_t>>& slots,
                   const std::vector<std::uint32_t>& sum) {
    const Request& request = requests_[r];
    DecodeOperations& ops = operations_[r].decode.emplace_back();
    ops.rank = rank;
    std::vector<std::uint32_t> after;
    for (int s = 0; s < i_.used_segments(); ++s)
      for (int p = 0; p < i_.prefill.tp; ++p) {
        const int heads = shared_heads(p, place);
        if (heads == 0) continue;
        after.push_back(graph_.add(rank, {.kind = Kind::kReceive, .peer = prefill_rank(request.prefill, p), .tag = tag(r, s),
                                          .octets = message(request.prompt, s, heads), .label = graph_.label("kv")}));
      }
    ops.first_receive = after.front();
    ops.end_receives = after.back() + 1;
    std::optional<std::uint32_t>& slot = slots[static_cast<std::size_t>(request.slot)];
    if (slot) after.insert(after.begin(), *slot);
    const auto stream = static_cast<std::uint8_t>(request.slot);
    const std::uint32_t label = graph_.label(fmt::format("D{}", r));
    // All ranks of the replica begin together, once each has its part: by the all-reduce of a token.
    std::uint32_t last = graph_.add(rank, {.kind = Kind::kCompute, .stream = stream, .after = std::move(after)});
    last = take_part(rank, sum, last);
    if (request.wait > Duration{})
      last = graph_.add(rank, {.kind = Kind::kCompute, .idle = true, .stream = stream, .time = request.wait,
                               .label = graph_.label("wait"), .after = {last}});
    last = graph_.add(rank, {.kind = Kind::kCompute, .stream = stream, .time = request.first, .label = label, .after = {last}});
    ops.first_token = last;
    if (request.output > 1)
      last = graph_.add(rank, {.kind = Kind::kCompute, .stream = stream, .time = request.rest, .label = label, .after = {last}});
    ops.last_token = last;
    slot = last;
  }

  const Inference& i_;
  GraphBuilder graph_;
  std::vector<Request> requests_;
  std::vector<RequestOperations> operations_;
};

}  // namespace

std::expected<void, InferenceError> check(const Inference& i) {
  for (const auto& [name, pool] : {std::pair{"prefill", i.prefill}, std::pair{"decode", i.decode}}) {
    if (i.model.heads % pool.tp != 0)
      return std::unexpected(InferenceError{name, fmt::format("{} attention heads cannot be divided among tp {}; expected a divisor of {}",
                                                              i.model.heads, pool.tp, i.model.heads)});
    if (const int heads = kv_heads(i.model); heads % pool.tp != 0)
      return std::unexpected(InferenceError{
          name, fmt::format("{} heads of keys and values cannot be divided among tp {}; expected a divisor of {}", heads, pool.tp, heads)});
  }
  if (const double tokens = static_cast<double>(i.requests) * i.output; tokens > kMostPlanned)
    return std::unexpected(InferenceError{"requests", fmt::format("{:.0f} tokens of output in all; expected at most {:.0f}", tokens, kMostPlanned)});
  if (const double operations = static_cast<double>(i.requests) * i.used_segments() * 4 * std::max(i.prefill.tp, i.decode.tp);
      operations > kMostOperations)
    return std::unexpected(InferenceError{"requests", fmt::format("about {:.0f} operations; expected at most {:.0f}: fewer requests or segments",
                                                                  operations, kMostOperations)});
  return {};
}

Duration segment_time(const Inference& i, int tokens, int segment) {
  const Model& m = i.model;
  const int layers = segment_layers(i, segment);
  double flops = static_cast<double>(tokens) * layers * (m.attention_flops(tokens) + m.mlp_flops());
  double weights = layers * layer_weights(m, tokens);
  // Only the last token of a prompt says what comes next.
  if (segment == i.used_segments() - 1) {
    flops += m.output_flops();
    weights += static_cast<double>(m.embedding_parameters());
  }
  return roofline(i, i.prefill.tp, flops, weights * i.weight_octets);
}

Duration prefill_time(const Inference& i, int tokens) {
  Duration all{};
  for (int s = 0; s < i.used_segments(); ++s) all += segment_time(i, tokens, s);
  return all;
}

Duration iteration_time(const Inference& i, int requests, std::int64_t context) {
  const Model& m = i.model;
  const double flops = requests * m.forward_flops(0) + 4.0 * m.layers * m.hidden * static_cast<double>(context);
  const double weights = m.layers * layer_weights(m, requests) + static_cast<double>(m.embedding_parameters());
  return roofline(i, i.decode.tp, flops, weights * i.weight_octets + static_cast<double>(context) * kv_of_token(i, m.layers));
}

std::uint64_t kv_octets(const Inference& i, int tokens) noexcept {
  return static_cast<std::uint64_t>(kv_of_token(i, i.model.layers)) * static_cast<std::uint64_t>(tokens);
}

std::vector<Request> plan(const Inference& i) {
  std::vector<Request> all(static_cast<std::size_t>(i.requests));
  Draws draws(i);
  std::vector<Duration> free(static_cast<std::size_t>(i.prefill.replicas));
  for (Request& r : all) {
    r.arrival = draws.arrival();
    r.prompt = draws.prompt();
    r.output = draws.output();
    const auto first = std::ranges::min_element(free);
    r.prefill = static_cast<int>(first - free.begin());
    r.prefilled = *first = std::max(*first, r.arrival) + prefill_time(i, r.prompt);
  }
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t r) { return all[r].prefilled; });
  std::vector<Batches> replicas(static_cast<std::size_t>(i.decode.replicas), Batches(i, all));
  for (const std::uint32_t r : order) {
    for (Batches& b : replicas) b.advance(all[r].prefilled);
    const auto least = std::ranges::min_element(replicas, {}, &Batches::load);
    all[r].decode = static_cast<int>(least - replicas.begin());
    least->add(r, all[r].prefilled);
  }
  for (Batches& b : replicas) b.advance(Duration{std::numeric_limits<std::int64_t>::max()});
  return all;
}

Serving serve(const Inference& inference) { return ServingBuilder(inference).run(); }

}  // namespace railyard::jobs
