#include "control/workload/collective_plan.h"

#include <map>

#include "control/workload/plan_builder.h"
#include "dataplane/base/assert.h"

namespace railyard::workload {
namespace {

using Operation = spec::CollectiveOperation;
using Algorithm = spec::CollectiveAlgorithm;
using Ranks = std::vector<std::uint32_t>;
using Ranges = std::vector<Range>;

// ---- Building blocks: `who[i]` and `blocks[i]` belong together -----------------------------------------------------

class Plan {
 public:
  Plan(const CollectiveShape& shape, std::uint32_t ranks)
      : shape_(shape),
        n_(ranks),
        build_(ranks, shape.size * (shape.operation == Operation::kAllToAll ? 2 : 1), shape.chunk,
               shape.operation == Operation::kAllReduce || shape.operation == Operation::kReduceScatter) {
    for (std::uint32_t r = 0; r < ranks; ++r) everybody_.push_back(r);
    if (!shape.host.empty()) build_.set_places(shape.host, shape.rail, shape.pxn);
  }

  std::vector<RankProgram> make() {
    inputs_and_results();
    if (shape_.operation == Operation::kAllToAll) {
      all_to_all();
      return build_.finish();
    }
    if (shape_.operation == Operation::kAllReduce) {
      buckets();
      return build_.finish();
    }
    for (channel_ = 0; channel_ < shape_.channels; ++channel_) {
      switch (shape_.operation) {
        case Operation::kReduceScatter:
          shape_.algorithm == Algorithm::kRing ? ring_reduce_scatter(ring(), in_order_of(ring(), blocks_of_channel()))
                                               : halving(blocks_of_channel());
          break;
        case Operation::kAllGather:
          shape_.algorithm == Algorithm::kRing ? ring_all_gather(ring(), in_order_of(ring(), blocks_of_channel()))
                                               : doubling(blocks_of_channel());
          break;
        case Operation::kBroadcast:
          broadcast(split(whole(), shape_.channels, shape_.element)[channel_]);
          break;
        case Operation::kAllReduce:
        case Operation::kAllToAll:
          break;
      }
    }
    return build_.finish();
  }

 private:
  Range whole() const { return {0, shape_.size}; }
  Ranges blocks() const { return split(whole(), n_, shape_.element); }
  // Of each rank's block the part that goes over the channel.
  Ranges blocks_of_channel() const {
    Ranges out;
    for (const Range& block : blocks()) out.push_back(split(block, shape_.channels, shape_.element)[channel_]);
    return out;
  }

  // The ranks in the order of the channel's ring. Through a host's ranks channel by channel from another one on, and
  // back again in every second host: so the ring comes to the next host at the rail at which it has left the last.
  Ranks ring() const {
    if (shape_.host.empty()) return everybody_;
    Ranks out;
    bool back = false;
    for (std::uint32_t begin = 0; begin < n_; back = !back) {
      std::uint32_t end = begin;
      while (end < n_ && shape_.host[end] == shape_.host[begin]) ++end;
      const std::uint32_t m = end - begin;
      for (std::uint32_t i = 0; i < m; ++i) out.push_back(begin + (channel_ + (back ? m - 1 - i : i)) % m);
      begin = end;
    }
    return out;
  }
  static Ranges in_order_of(const Ranks& who, const Ranges& blocks) {
    Ranges out;
    for (const std::uint32_t r : who) out.push_back(blocks[r]);
    return out;
  }

  void inputs_and_results() {
    const Ranges own = blocks();
    for (std::uint32_t r = 0; r < n_; ++r) {
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
          for (std::uint32_t q = 0; q < n_; ++q)
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
          for (std::uint32_t q = 0; q < n_; ++q)
            if (q != r) build_.add_result(r, {shape_.size + own[q].offset, own[q].octets, q, own[r].offset});
          break;
      }
    }
  }

  // In the end who[i] has the sum of blocks[i]. Round s: who[i] hands on the block that has come s ranks so far.
  void ring_reduce_scatter(const Ranks& who, const Ranges& blocks) {
    const std::size_t m = who.size();
    for (std::size_t s = 0; s + 1 < m; ++s)
      for (std::size_t i = 0; i < m; ++i)
        build_.reduce(who[i], who[(i + 1) % m], channel_, blocks[(i + 2 * m - s - 1) % m]);
  }
  // who[i] begins with blocks[i]; in the end all have all.
  void ring_all_gather(const Ranks& who, const Ranges& blocks) {
    const std::size_t m = who.size();
    for (std::size_t s = 0; s + 1 < m; ++s)
      for (std::size_t i = 0; i < m; ++i) {
        const Range& block = blocks[(i + m - s) % m];
        build_.copy(who[i], who[(i + 1) % m], channel_, block, block.offset);
      }
  }

  // Blocks [from, to), those that lie behind each other as one.
  static Ranges run_of(const Ranges& blocks, std::size_t from, std::size_t to) {
    Ranges out;
    for (std::size_t b = from; b < to; ++b) {
      if (!out.empty() && out.back().end() == blocks[b].offset)
        out.back().octets += blocks[b].octets;
      else
        out.push_back(blocks[b]);
    }
    return out;
  }
  // Recursive halving (Thakur, Rabenseifner, Gropp 2005): with the rank at distance n/2, n/4, ... the half of
  // what is left that is the other's goes there.
  void halving(const Ranges& blocks) {
    for (std::size_t d = n_ / 2; d >= 1; d /= 2)
      for (std::uint32_t r = 0; r < n_; ++r) {
        const std::size_t other = r ^ d;
        const std::size_t from = other / d * d;
        for (const Range& range : run_of(blocks, from, from + d))
          build_.reduce(r, static_cast<std::uint32_t>(other), channel_, range);
      }
  }
  // Recursive doubling (ibid.): all that one has goes to the rank at distance 1, 2, 4, ...
  void doubling(const Ranges& blocks) {
    for (std::size_t d = 1; d < n_; d *= 2)
      for (std::uint32_t r = 0; r < n_; ++r) {
        const std::size_t from = r / d * d;
        for (const Range& range : run_of(blocks, from, from + d))
          build_.copy(r, static_cast<std::uint32_t>(r ^ d), channel_, range, range.offset);
      }
  }

  // A binary heap: node i's parent is (i - 1) / 2. Odd channels number the ranks from the other end, so that who has
  // children in one mostly has none in the other (after Sanders, Speck, Traeff 2009, two-tree algorithms).
  std::uint32_t node(std::size_t i, std::uint32_t root) const {
    const std::size_t turned = channel_ % 2 == 0 || i == 0 ? i : n_ - i;
    return static_cast<std::uint32_t>((turned + root) % n_);
  }
  void tree_down(Range range, std::uint32_t root) {
    for (std::size_t i = 1; i < n_; ++i)
      build_.copy(node((i - 1) / 2, root), node(i, root), channel_, range, range.offset);
  }
  void tree_all_reduce(Range range) {
    const std::uint32_t root = channel_ % 2 == 0 ? 0 : n_ - 1;
    for (std::size_t i = n_ - 1; i >= 1; --i)
      build_.reduce(node(i, root), node((i - 1) / 2, root), channel_, range);
    tree_down(range, root);
  }

  void broadcast(Range range) {
    if (shape_.algorithm == Algorithm::kTree) return tree_down(range, shape_.root);
    for (std::uint32_t i = 0; i + 1 < n_; ++i)
      build_.copy((shape_.root + i) % n_, (shape_.root + i + 1) % n_, channel_, range, range.offset);
  }

  // Gradients of the last layers are there first; which octets those are does not matter here.
  void buckets() {
    const bool computes = shape_.forward + shape_.backward > Duration{};
    if (computes)
      for (std::uint32_t r = 0; r < n_; ++r) build_.compute(r, {}, of_rank(r, shape_.forward));
    for (const Range& bucket : split(whole(), shape_.buckets, shape_.element)) {
      if (computes)
        for (std::uint32_t r = 0; r < n_; ++r) build_.compute(r, bucket, of_rank(r, shape_.backward / shape_.buckets));
      const Ranges parts = split(bucket, shape_.channels, shape_.element);
      for (channel_ = 0; channel_ < shape_.channels; ++channel_) all_reduce(parts[channel_]);
    }
  }

  Duration of_rank(std::uint32_t rank, Duration time) const {
    if (shape_.slowness.empty()) return time;
    return Duration{static_cast<std::int64_t>(static_cast<double>(time.ps) * shape_.slowness[rank])};
  }

  void all_reduce(Range range) {
    switch (shape_.algorithm) {
      case Algorithm::kTree:
        return tree_all_reduce(range);
      case Algorithm::kHalvingDoubling: {
        const Ranges parts = split(range, n_, shape_.element);
        halving(parts);
        return doubling(parts);
      }
      case Algorithm::kHierarchical:
        return hierarchical(range);
      default: {
        const Ranges parts = split(range, n_, shape_.element);
        ring_reduce_scatter(ring(), parts);
        return ring_all_gather(ring(), parts);
      }
    }
  }

  // Within each group, then the same part of all groups, then within each group again.
  void hierarchical(Range range) {
    std::map<std::uint32_t, Ranks> groups;
    for (std::uint32_t r = 0; r < n_; ++r) groups[shape_.group[r]].push_back(r);
    const std::size_t members = groups.begin()->second.size();
    const Ranges parts = split(range, members, shape_.element);
    for (const auto& [id, who] : groups) ring_reduce_scatter(who, parts);
    for (std::size_t j = 0; j < members; ++j) {
      Ranks across;
      for (const auto& [id, who] : groups) across.push_back(who[j]);
      const Ranges pieces = split(parts[j], across.size(), shape_.element);
      ring_reduce_scatter(across, pieces);
      ring_all_gather(across, pieces);
    }
    for (const auto& [id, who] : groups) ring_all_gather(who, parts);
  }

  // All at once, each beginning with the rank behind it.
  void all_to_all() {
    const Ranges own = blocks();
    for (std::uint32_t k = 1; k < n_; ++k)
      for (std::uint32_t r = 0; r < n_; ++r) {
        const std::uint32_t to = (r + k) % n_;
        const Ranges parts = split(own[to], shape_.channels, shape_.element);
        for (std::uint32_t c = 0; c < shape_.channels; ++c)
          build_.copy(r, to, c, parts[c], shape_.size + own[r].offset + (parts[c].offset - own[to].offset));
      }
  }

  const CollectiveShape& shape_;
  std::uint32_t n_;
  std::uint32_t channel_ = 0;
  Ranks everybody_;
  PlanBuilder build_;
};

}  // namespace

std::vector<RankProgram> plan_collective(const CollectiveShape& shape, std::uint32_t ranks) {
  RAILYARD_ASSERT(ranks >= 2 && shape.size % shape.element == 0 && shape.chunk % shape.element == 0,
                  "collectives are checked before they are planned");
  return Plan(shape, ranks).make();
}

double busbw_factor(Operation operation, std::uint32_t ranks) {
  const double n = ranks;
  switch (operation) {
    case Operation::kAllReduce:
      return 2 * (n - 1) / n;
    case Operation::kReduceScatter:
    case Operation::kAllGather:
    case Operation::kAllToAll:
      return (n - 1) / n;
    case Operation::kBroadcast:
      break;
  }
  return 1;
}

}  // namespace railyard::workload
