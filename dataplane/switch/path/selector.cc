#include "dataplane/switch/path/selector.h"

#include <algorithm>
#include <string>
#include <utility>

#include "dataplane/switch/path/policies.h"

namespace railyard {
namespace {

constexpr bool is_detour_policy(PathPolicy policy) noexcept {
  return policy == PathPolicy::kValiant || policy == PathPolicy::kUgal;
}

}  // namespace

PathSelector::PathSelector(const PathSelectorConfig& config, Seed seed, std::string_view name, std::size_t ports,
                           Bytes cell)
    : turns_(RngStream(seed, std::string(name) + "/spray")),
      rounds_(RngStream(seed, std::string(name) + "/spray/shuffled")),
      random_(RngStream(seed, std::string(name) + "/spray/random")),
      turns_now_(RngStream(seed, std::string(name) + "/spray/least-loaded")),
      random_now_(RngStream(seed, std::string(name) + "/path")),
      drill_(RngStream(seed, std::string(name) + "/drill")),
      ports_(ports),
      left_(ports),
      edge_(ports, false),
      cell_(cell) {
  set(config);
}

void PathSelector::set(const PathSelectorConfig& config) {
  config_ = config;
  ecmp_ = Ecmp(config.ecmp_seed, config.ecmp_fields);
  at_its_turn_ = 0;
  decides_by_load_ = false;
  for (std::size_t k = 0; k < kPriorities; ++k) {
    const PathConfig& c = config.by_class[k];
    const PathBasis basis = info(c.policy).basis(c);
    decides_by_load_ |= basis == PathBasis::kLoads;
    if (basis != PathBasis::kPackets)
      at_its_turn_ = static_cast<PriorityMask>(at_its_turn_ | 1u << k);
    bands_[k] = QualityBands(c.band, c.bands);
  }
  set_sampling();
  report_loads(reported_);
}

// Who goes on sampling as before keeps the averages.
void PathSelector::set_sampling() {
  std::vector<SampledLoad> before = std::exchange(sampled_, {});
  sample_due_ = Instant::never();
  for (std::size_t k = 0; k < kPriorities; ++k) {
    const PathConfig& c = config_.by_class[k];
    if (c.policy != PathPolicy::kAdaptive || !c.sampling.on()) continue;
    auto own = std::ranges::find(sampled_, c.sampling, &SampledLoad::sampling);
    if (own == sampled_.end()) {
      const auto known = std::ranges::find(before, c.sampling, &SampledLoad::sampling);
      own = sampled_.insert(own, known != before.end() ? std::move(*known) : SampledLoad(c.sampling, ports_.size()));
    }
    sampled_of_[k] = static_cast<std::uint8_t>(own - sampled_.begin());
    sample_due_ = std::min(sample_due_, own->due());
  }
}

void PathSelector::sample(Instant now) {
  sample_due_ = Instant::never();
  for (SampledLoad& s : sampled_) {
    if (s.due() <= now) s.sample(now, ports_, left_);
    sample_due_ = std::min(sample_due_, s.due());
  }
}

void PathSelector::set_table(const ForwardingTable& table) {
  table_ = &table;
  remote_ = {};
  flowlets_.clear();
  drill_.clear();
  wcmp_.clear();
  wcmp_of_.assign(table.members(), 0);
  shares_.set_table(table);
  std::size_t most = 0;
  for (const NextHops& group : table.groups()) {
    std::vector<std::uint32_t> weights;
    for (std::uint32_t i = 0; i < group.count; ++i) weights.push_back(table.weight(group, i));
    wcmp_of_[group.first] = static_cast<std::uint32_t>(wcmp_.size());
    wcmp_.emplace_back(weights);
    most = std::max<std::size_t>(most, group.count);
  }
  equals_.resize(most);
  drains_.resize(most);
}

void PathSelector::set_up(PortIndex port, bool up) noexcept {
  PortLoad& p = ports_[port.index()];
  if (p.up == up) return;
  p.up = up;
  down_ += up ? -1u : 1u;
}

void PathSelector::set_rate(PortIndex port, BitRate rate) noexcept {
  PortLoad& p = ports_[port.index()];
  const Duration cell_time = cell_ / rate;
  p.cell_time_ns8 = static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(cell_time.ps * 256 / 1000, 1, std::numeric_limits<std::uint32_t>::max()));
  p.weight = static_cast<std::uint32_t>(std::max<std::int64_t>(1, rate.bps / 1'000'000));
}

std::uint32_t PathSelector::choose_now(Instant now, const NextHops& hops, const Packet& packet, PortIndex in,
                                       Priority priority) {
  if (!has_choice(hops)) return 0;
  if (now >= sample_due_) [[unlikely]]
    sample(now);
  const PathConfig& c = config_.by_class[priority.index()];
  const Instant* const behind = c.global ? remote_.to(packet.fec) : nullptr;
  const bool takes_detours = is_detour_policy(c.policy) && edge_[in.index()] && hops.detours != 0;
  std::uint32_t member;
  if (c.policy == PathPolicy::kSpray) {
    member = least_loaded(hops, priority);
  } else if (c.policy == PathPolicy::kDrill) {
    member = drill(hops, priority);
  } else if (c.policy == PathPolicy::kAdaptive && !c.per_flowlet) {
    member = best_band(now, hops, priority, behind);
  } else if (takes_detours && !c.per_flowlet) {
    member = detour_or_not(hops, c);
  } else if (is_detour_policy(c.policy) && !takes_detours) {
    member = hashed_among_up(hops, ecmp_.hash(packet, in), false);
  } else {
    const std::uint32_t hash = ecmp_.hash(packet, in);
    // Flows are told apart by group and class, too: members are numbered within a group.
    const auto flow = static_cast<std::uint32_t>(mix64(std::uint64_t{hash} << 32 | turn_of(hops, priority)) >> 32);
    FlowletTable::Entry* const entry = flowlets_.at(flow, now, c.gap);
    if (entry == nullptr) {
      member = hashed_among_up(hops, hash, false);
    } else {
      if (entry->member == FlowletTable::kNone || !port(hops, entry->member).up)
        entry->member = static_cast<std::uint16_t>(c.policy == PathPolicy::kAdaptive
                                                       ? best_band(now, hops, priority, behind)
                                                   : takes_detours ? detour_or_not(hops, c)
                                                                   : random_among_up(hops, random_now_));
      member = entry->member;
    }
  }
  shares_.count(hops.first + member, packet.frame_octets);
  return member;
}

std::optional<std::uint32_t> PathSelector::by_hash(const NextHops& hops, const Packet& packet, PortIndex in,
                                                   Priority priority) const {
  const PathPolicy policy = config_.by_class[priority.index()].policy;
  const bool takes_detours = is_detour_policy(policy) && edge_[in.index()] && hops.detours != 0;
  if (hops.count == 1 && !takes_detours) return 0;
  const bool weighted = policy == PathPolicy::kWcmp;
  if (policy != PathPolicy::kEcmp && !weighted) return std::nullopt;
  const std::uint32_t hash = ecmp_.hash(packet, in);
  if (down_ != 0) return hashed_among_up(hops, hash, weighted);
  return weighted ? wcmp_[wcmp_of_[hops.first]].choose(hash) : Ecmp::choose(hash, hops.count);
}

std::uint32_t PathSelector::choose_for_own(const NextHops& hops, const Packet& packet, PortIndex self) {
  if (hops.count == 1) return 0;
  const std::uint32_t hash = ecmp_.hash(packet, self);
  const std::uint32_t member = down_ != 0 ? hashed_among_up(hops, hash, false) : Ecmp::choose(hash, hops.count);
  shares_.count(hops.first + member, packet.frame_octets);
  return member;
}

// ---- One policy each ----------------------------------------------------------------------------------------------

// If no member is up, it does not matter which it is: the packet is dropped there.
std::uint32_t PathSelector::choose_among_up(const NextHops& hops, const Packet& packet, PortIndex in,
                                            Priority priority) {
  const PathConfig& c = config_.by_class[priority.index()];
  if (c.policy == PathPolicy::kEcmp || c.policy == PathPolicy::kWcmp)
    return hashed_among_up(hops, ecmp_.hash(packet, in), c.policy == PathPolicy::kWcmp);
  return c.order == SprayOrder::kRandom ? random_among_up(hops, random_) : next_in_turn(hops, priority, c.order);
}

std::uint32_t PathSelector::hashed_among_up(const NextHops& hops, std::uint32_t hash, bool weighted) const noexcept {
  if (config_.resilient) {
    const std::uint32_t own = weighted ? wcmp_[wcmp_of_[hops.first]].choose(hash) : Ecmp::choose(hash, hops.count);
    if (port(hops, own).up) return own;
    if (bundle_up(hops, own)) return in_its_bundle(hops, own, Ecmp::again(hash));
    hash = Ecmp::again(hash);
  }
  const auto weight = [&](std::uint32_t i) -> std::uint64_t {
    return !bundle_up(hops, i) ? 0 : weighted ? table_->weight(hops, i) : 1;
  };
  std::uint64_t sum = 0;
  for (std::uint32_t i = 0; i < hops.count; ++i) sum += weight(i);
  if (sum == 0) return 0;
  std::uint64_t at =
      config_.resilient ? static_cast<std::uint64_t>((static_cast<UInt128>(hash) * sum) >> 32) : hash % sum;
  for (std::uint32_t i = 0; i < hops.count; ++i) {
    if (at < weight(i)) return in_its_bundle(hops, i, Ecmp::again(hash));
    at -= weight(i);
  }
  return 0;
}

// Whether the member is up, or another of its bundle.
bool PathSelector::bundle_up(const NextHops& hops, std::uint32_t member) const noexcept {
  const PortLoad& own = port(hops, member);
  if (own.up || own.bundle == 0) return own.up;
  for (std::uint32_t i = 0; i < hops.count; ++i)
    if (port(hops, i).up && port(hops, i).bundle == own.bundle) return true;
  return false;
}

// The member itself if it is up, else one of its bundle that is.
std::uint32_t PathSelector::in_its_bundle(const NextHops& hops, std::uint32_t member, std::uint32_t hash) const noexcept {
  const PortLoad& own = port(hops, member);
  if (own.up) return member;
  const auto fits = [&](std::uint32_t i) { return port(hops, i).up && port(hops, i).bundle == own.bundle; };
  std::uint32_t up = 0;
  for (std::uint32_t i = 0; i < hops.count; ++i) up += fits(i) ? 1 : 0;
  std::uint32_t nth = up == 0 ? 0 : Ecmp::choose(hash, up);
  for (std::uint32_t i = 0; i < hops.count; ++i)
    if (fits(i) && nth-- == 0) return i;
  return member;
}

std::uint32_t PathSelector::random_among_up(const NextHops& hops, RngStream& draws) {
  std::uint32_t n = 0;
  for (std::uint32_t i = 0; i < hops.count; ++i) n += port(hops, i).up ? 1u : 0u;
  if (n == 0) return 0;
  auto at = static_cast<std::uint32_t>(draws.below(n));
  for (std::uint32_t i = 0; i < hops.count; ++i)
    if (port(hops, i).up && at-- == 0) return i;
  return 0;
}

// In two rounds each has its turn, where ever they begin.
std::uint32_t PathSelector::next_in_turn(const NextHops& hops, Priority priority, SprayOrder order) {
  const std::uint32_t group = turn_of(hops, priority);
  std::uint32_t member = 0;
  for (std::uint32_t i = 0; i < 2 * hops.count; ++i) {
    member = order == SprayOrder::kShuffled ? rounds_.choose(group, hops.count) : turns_.choose(group, hops.count);
    if (port(hops, member).up) break;
  }
  return member;
}

std::uint32_t PathSelector::drill(const NextHops& hops, Priority priority) {
  const PathConfig& c = config_.by_class[priority.index()];
  const auto drain = [&](std::uint32_t member) {
    const PortLoad& p = port(hops, member);
    return p.up ? p.drain() : Drill::kDown;
  };
  const std::uint32_t member = drill_.choose(turn_of(hops, priority), hops.count, c.choices, c.memory, drain);
  return member < hops.count ? member : random_among_up(hops, random_now_);
}

// Valiant: one of the detours that are up, whichever. UGAL-L: the same against an equal member, by what waits in the two
// ports, each weighted by the hops of its way (Singh, "Load-Balanced Routing in Interconnection Networks", 2005; Kim et
// al., ISCA 2008, section 4.1).
std::uint32_t PathSelector::detour_or_not(const NextHops& hops, const PathConfig& c) {
  const std::uint32_t minimal = random_among_up(hops, random_now_);
  std::uint32_t up = 0;
  for (std::uint32_t i = 0; i < hops.detours; ++i) up += port(hops, hops.count + i).up ? 1u : 0u;
  if (up == 0) return minimal;
  auto at = static_cast<std::uint32_t>(random_now_.below(up));
  std::uint32_t detour = hops.count;
  while (!port(hops, detour).up || at-- != 0) ++detour;
  if (c.policy == PathPolicy::kValiant || !port(hops, minimal).up) return detour;
  const auto cost = [&](std::uint32_t member) { return port(hops, member).drain() * table_->length(hops, member); };
  const auto threshold = static_cast<std::uint64_t>(c.threshold.ps) * 256 / 1000;
  return cost(minimal) > cost(detour) + threshold ? detour : minimal;
}

// Among equals it is theirs in turn.
std::uint32_t PathSelector::least_loaded(const NextHops& hops, Priority priority) {
  const std::uint32_t group = turn_of(hops, priority);
  std::uint32_t member = turns_now_.whose_turn(group, hops.count);
  std::uint32_t best = member;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t i = 0; i < hops.count; ++i) {
    const PortLoad& p = port(hops, member);
    if (p.up && p.drain() < least) {
      least = p.drain();
      best = member;
    }
    if (++member == hops.count) member = 0;
  }
  turns_now_.took(group, best);
  return best;
}

// Among equals each in proportion to its rate: a link of a quarter of the rate is worth a quarter as much while all of
// them are idle, too. A member is as bad as the worse of its queues and of what is behind it. No branch depends on a
// single member: which of them are good is what no processor predicts.
std::uint32_t PathSelector::best_band(Instant now, const NextHops& hops, Priority priority, const Instant* behind) {
  constexpr std::uint64_t kNoWay = ~std::uint64_t{0};
  const SampledLoad* const sampled =
      config_.by_class[priority.index()].sampling.on() ? &sampled_[sampled_of_[priority.index()]] : nullptr;
  std::uint64_t least = kNoWay;
  for (std::uint32_t i = 0; i < hops.count; ++i) {
    const PortLoad& p = port(hops, i);
    std::uint64_t drain = sampled != nullptr ? sampled->drain(table_->member(hops, i), p) : p.drain();
    if (behind != nullptr) {
      const std::uint64_t far = RemoteQuality::drain(behind[i], now);
      drain = behind[i] == RemoteQuality::kNoWay ? kNoWay : std::max(drain, far);
    }
    drain = p.up ? drain : kNoWay;
    drains_[i] = drain;
    least = std::min(least, drain);
  }
  const QualityBands& bands = bands_[priority.index()];
  // Rather to where it ends than nowhere.
  const std::uint64_t end = least != kNoWay ? bands.end(bands.grade(least)) : kNoWay;
  std::uint64_t weight = 0;
  std::uint32_t n = 0;  // as good as the best
  std::uint32_t unlike = 0;
  const std::uint32_t like = port(hops, 0).weight;
  for (std::uint32_t i = 0; i < hops.count; ++i) {
    const PortLoad& p = port(hops, i);
    const bool good = least != kNoWay ? drains_[i] < end : p.up;
    equals_[n] = i;
    n += good ? 1u : 0u;
    weight += good ? p.weight : 0u;
    unlike |= p.weight ^ like;
  }
  if (n == 0) return 0;
  std::uint64_t at = random_now_.below(weight);
  if (unlike == 0) [[likely]]
    return equals_[static_cast<std::uint32_t>(at) / like];
  for (std::uint32_t k = 0; k < n; ++k) {
    const std::uint32_t w = port(hops, equals_[k]).weight;
    if (at < w) return equals_[k];
    at -= w;
  }
  return 0;
}

}  // namespace railyard
