#include "control/collectives/plan.h"

#include <algorithm>

#include "control/collectives/collective_plan.h"

namespace railyard::collectives {

Plan::Plan(const CollectiveShape& shape, std::uint32_t ranks)
    : shape_(shape),
      ranks_(ranks),
      build_(ranks, shape.size * (shape.operation == Operation::kAllToAll ? 2 : 1), shape.chunk,
             shape.operation == Operation::kAllReduce || shape.operation == Operation::kReduceScatter) {
  if (!shape.host.empty()) build_.set_places(shape.host, shape.rail, shape.pxn);
}

std::vector<RankProgram> Plan::make() {
  const Algorithm& a = shape_.used_algorithm();
  inputs_and_results();
  if (shape_.operation == Operation::kAllReduce) {
    all_reduce();
    return build_.finish();
  }
  for (channel_ = 0; channel_ < shape_.channels; ++channel_) {
    build_.set_chunk(shape_.chunk);
    build_.begin_stream(0);
    switch (shape_.operation) {
      case Operation::kReduceScatter:
        a.reduce_scatter(*this, blocks_of_channel());
        break;
      case Operation::kAllGather:
        a.all_gather(*this, blocks_of_channel());
        break;
      case Operation::kBroadcast:
        a.broadcast(*this, split(whole(), shape_.channels)[channel_]);
        break;
      case Operation::kAllToAll:
        a.all_to_all(*this, blocks_of_channel());
        break;
      case Operation::kAllReduce:
        break;
    }
  }
  return build_.finish();
}

Range Plan::whole() const { return {0, shape_.size}; }

Ranges Plan::split(Range range, std::uint64_t parts) const {
  return collectives::split(range, parts, shape_.element);
}

Ranges Plan::blocks_of_channel() const {
  Ranges out;
  for (const Range& block : blocks()) out.push_back(split(block, shape_.channels)[channel_]);
  return out;
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
      case Operation::kAllToAll:
        // What goes out, and behind it what comes in; its own part stays where it is.
        build_.set_identity_base(r, std::uint64_t{r} * shape_.size);
        build_.add_input(r, whole());
        for (std::uint32_t q = 0; q < ranks_; ++q)
          if (q != r) build_.add_result(r, {shape_.size + own[q].offset, own[q].octets, q, own[r].offset});
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
    for (channel_ = 0; channel_ < shape_.channels; ++channel_) {
      build_.set_chunk(shape_.chunk);
      build_.begin_stream(0);
      shape_.used_algorithm().all_reduce(*this, parts[channel_]);
    }
  }
}

Duration Plan::of_rank(std::uint32_t rank, Duration time) const {
  if (shape_.slowness.empty()) return time;
  return Duration{static_cast<std::int64_t>(static_cast<double>(time.ps) * shape_.slowness[rank])};
}

}  // namespace railyard::collectives
