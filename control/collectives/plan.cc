#include "control/collectives/plan.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "control/collectives/collective_plan.h"

namespace railyard::collectives {

namespace {

// What each rank gets at most.
std::uint64_t most_received(const CollectiveShape& shape, std::uint32_t ranks) {
  if (shape.matrix.empty()) return shape.size;
  std::uint64_t most = 0;
  for (std::uint32_t q = 0; q < ranks; ++q) {
    std::uint64_t all = 0;
    for (std::uint32_t r = 0; r < ranks; ++r) all += shape.matrix[std::size_t{r} * ranks + q];
    most = std::max(most, all);
  }
  return most;
}

std::uint32_t rounds_of(std::uint32_t ranks) { return static_cast<std::uint32_t>(std::bit_width(ranks - 1)); }

// Of a rank.
std::uint64_t data_octets(const CollectiveShape& shape, std::uint32_t ranks) {
  if (shape.operation == Operation::kBarrier) return std::uint64_t{shape.element} * (rounds_of(ranks) + 1);
  return shape.size + (traits(shape.operation).two_buffers ? most_received(shape, ranks) : 0);
}

}  // namespace

Plan::Plan(const CollectiveShape& shape, std::uint32_t ranks)
    : shape_(shape),
      ranks_(ranks),
      build_(ranks, data_octets(shape, ranks), shape.chunk, traits(shape.operation).sums, shape.reduction.latency) {
  if (!shape.host.empty()) {
    // Reducers are in the network that they are for, or at a place of their own.
    std::vector<std::uint32_t> host = shape.host;
    for (std::uint32_t i = 0; i < shape.reduction.latency.size(); ++i) host.push_back(ReductionNetwork::kNone - i);
    for (std::uint32_t n = 0; n < shape.reduction.of_network.size(); ++n)
      if (const auto reducer = shape.reduction.in_network(n)) host[ranks + *reducer] = n;
    build_.set_places(std::move(host), shape.rail, shape.tray, shape.pxn);
  }
  build_.set_step_costs(shape.costs.step, shape.costs.scale_up_step, shape.costs.ps_per_octet);
  if (shape.matrix.empty()) return;
  out_at_.resize(shape.matrix.size());
  in_at_.resize(shape.matrix.size());
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t q = 1; q < ranks; ++q) {
      out_at_[r * ranks + q] = out_at_[r * ranks + q - 1] + shape.matrix[r * ranks + q - 1];
      in_at_[q * ranks + r] = in_at_[(q - 1) * ranks + r] + shape.matrix[(q - 1) * ranks + r];
    }
}

std::vector<RankProgram> Plan::make() {
  const Algorithm& a = shape_.used_algorithm();
  inputs_and_results();
  if (shape_.operation == Operation::kAllReduce) {
    all_reduce();
    return build_.finish();
  }
  if (shape_.operation == Operation::kBarrier) {
    a.barrier(*this);
    return build_.finish();
  }
  for (std::uint32_t channel = 0; channel < shape_.channels; ++channel) {
    start_channel(channel);
    switch (shape_.operation) {
      case Operation::kReduceScatter:
        a.reduce_scatter(*this, blocks_of_channel());
        break;
      case Operation::kAllGather:
        a.all_gather(*this, blocks_of_channel());
        break;
      case Operation::kBroadcast:
        a.broadcast(*this, of_channel(whole()));
        break;
      case Operation::kReduce:
        a.reduce(*this, of_channel(whole()));
        break;
      case Operation::kGather:
        a.gather(*this, blocks_of_channel());
        break;
      case Operation::kScatter:
        a.scatter(*this, blocks_of_channel());
        break;
      case Operation::kAllToAll:
        a.all_to_all(*this);
        break;
      case Operation::kSendRecv:
        a.send_recv(*this, of_channel(whole()));
        break;
      case Operation::kAllReduce:
      case Operation::kBarrier:
        break;
    }
  }
  return build_.finish();
}

void Plan::start_channel(std::uint32_t channel) {
  channel_ = channel;
  build_.set_chunk(shape_.chunk);
  build_.begin_stream(0);
}

Range Plan::whole() const { return {0, shape_.size}; }

Ranges Plan::split(Range range, std::uint64_t parts) const {
  return collectives::split(range, parts, shape_.element);
}

// The first ones have one element more if it does not come out even, as in split().
Range Plan::block_of(std::uint32_t rank) const noexcept {
  const std::uint64_t elements = shape_.size / shape_.element;
  const std::uint64_t more = elements % ranks_;
  return {(elements / ranks_ * rank + std::min<std::uint64_t>(rank, more)) * shape_.element,
          (elements / ranks_ + (rank < more ? 1 : 0)) * shape_.element};
}

Range Plan::of_channel(Range range) const { return split(range, shape_.channels)[channel_]; }

Ranges Plan::blocks_of_channel() const {
  Ranges out;
  for (const Range& block : blocks()) out.push_back(of_channel(block));
  return out;
}

Range Plan::outgoing(std::uint32_t from, std::uint32_t to) const {
  if (shape_.matrix.empty()) return block_of(to);
  const std::size_t at = std::size_t{from} * ranks_ + to;
  return {out_at_[at], shape_.matrix[at]};
}

std::uint64_t Plan::incoming(std::uint32_t from, std::uint32_t to) const {
  return second_buffer() + (shape_.matrix.empty() ? block_of(from).offset : in_at_[std::size_t{from} * ranks_ + to]);
}

std::uint64_t Plan::second_buffer() const noexcept { return shape_.size; }

std::uint32_t Plan::rounds() const noexcept { return rounds_of(ranks_); }

void Plan::arrive(std::uint32_t from, std::uint32_t to, std::uint32_t slot) {
  const std::uint64_t e = shape_.element;
  build_.signal(from, to, 0, {0, e}, slot * e, {0, slot * e});
}

void Plan::limit_messages(std::uint64_t octets) {
  const std::uint64_t whole_elements = std::max<std::uint64_t>(octets / shape_.element, 1) * shape_.element;
  build_.set_chunk(static_cast<std::uint32_t>(std::min<std::uint64_t>(whole_elements, shape_.chunk)));
}

void Plan::inputs_and_results() {
  const Ranges own = blocks();
  for (std::uint32_t r = 0; r < ranks_; ++r) {
    switch (shape_.operation) {
      case Operation::kAllReduce:
        build_.add_input(r, whole());
        build_.add_result(r, {0, shape_.size, CollectiveExtent::kSum, 0});
        break;
      case Operation::kReduceScatter:
        build_.add_input(r, whole());
        build_.add_result(r, {own[r].offset, own[r].octets, CollectiveExtent::kSum, own[r].offset});
        break;
      case Operation::kAllGather:
        build_.add_input(r, own[r]);
        for (std::uint32_t q = 0; q < ranks_; ++q)
          build_.add_result(r, {own[q].offset, own[q].octets, q, own[q].offset});
        break;
      case Operation::kBroadcast:
        if (r == shape_.root) build_.add_input(r, whole());
        build_.add_result(r, {0, shape_.size, shape_.root, 0});
        break;
      case Operation::kReduce:
        build_.add_input(r, whole());
        if (r == shape_.root) build_.add_result(r, {0, shape_.size, CollectiveExtent::kSum, 0});
        break;
      case Operation::kGather:
        build_.add_input(r, own[r]);
        for (std::uint32_t q = 0; r == shape_.root && q < ranks_; ++q)
          build_.add_result(r, {own[q].offset, own[q].octets, q, own[q].offset});
        break;
      case Operation::kScatter:
        if (r == shape_.root) build_.add_input(r, whole());
        build_.add_result(r, {own[r].offset, own[r].octets, shape_.root, own[r].offset});
        break;
      case Operation::kAllToAll:
        // What goes out, and behind it what comes in; its own part stays where it is.
        build_.set_identity_base(r, std::uint64_t{r} * shape_.size);
        build_.add_input(r, whole());
        for (std::uint32_t q = 0; q < ranks_; ++q)
          if (const Range out = outgoing(q, r); q != r && out.octets > 0)
            build_.add_result(r, {incoming(q, r), out.octets, q, out.offset});
        break;
      case Operation::kSendRecv:
        build_.set_identity_base(r, std::uint64_t{r} * shape_.size);
        build_.add_input(r, whole());
        build_.add_result(r, {second_buffer(), shape_.size, (r + ranks_ - 1) % ranks_, 0});
        break;
      case Operation::kBarrier:
        build_.set_identity_base(r, std::uint64_t{r} * shape_.element);
        build_.add_input(r, {0, shape_.element});
        for (std::uint32_t k = 0; k < rounds(); ++k)
          build_.add_result(r, {(k + 1) * std::uint64_t{shape_.element}, shape_.element,
                                (r + ranks_ - (1u << k)) % ranks_, 0});
        break;
    }
  }
}

// Gradients of the last layers are there first; which octets those are does not matter here.
void Plan::all_reduce() {
  const bool computes = shape_.forward + shape_.backward > Duration{};
  if (computes)
    for (std::uint32_t r = 0; r < ranks_; ++r) build_.compute(r, {}, of_rank(r, shape_.forward));
  for (const Range& bucket : split(whole(), shape_.buckets)) {
    if (computes)
      for (std::uint32_t r = 0; r < ranks_; ++r)
        build_.compute(r, bucket, of_rank(r, shape_.backward / shape_.buckets));
    const Ranges parts = split(bucket, shape_.channels);
    for (std::uint32_t channel = 0; channel < shape_.channels; ++channel) {
      start_channel(channel);
      shape_.used_algorithm().all_reduce(*this, parts[channel]);
    }
  }
}

Duration Plan::of_rank(std::uint32_t rank, Duration time) const {
  if (shape_.slowness.empty()) return time;
  return Duration{static_cast<std::int64_t>(static_cast<double>(time.ps) * shape_.slowness[rank])};
}

}  // namespace railyard::collectives
