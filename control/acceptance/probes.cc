#include <algorithm>
#include <bit>
#include <map>

#include <fmt/format.h>

#include "control/acceptance/probe.h"
#include "control/blast/element.h"
#include "control/blast/timing.h"
#include "control/spec/collective_ranks.h"

namespace railyard::acceptance {
namespace {

constexpr std::int64_t kFrameOctets = 4096;
// What a probe at full rate may send, all NICs together: seconds of computing.
constexpr std::int64_t kMostPackets = 2'000'000;

// The fabric without its own work.
spec::Lab fabric(const Subject& s, ProbeKind kind) {
  spec::Lab lab = s.lab;
  constexpr std::size_t kMostOfName = 40;  // of the 63 characters that a name may have
  lab.name = fmt::format("{}-{}", s.lab.name.substr(0, kMostOfName), name(kind));
  lab.traffic.clear();
  lab.collectives.clear();
  lab.expect.clear();
  lab.probe.reset();
  lab.compare = {};
  lab.diagnosis = {};
  lab.run.duration.reset();
  lab.run.timeline = false;
  lab.run.in_band.reset();
  return lab;
}

// One traffic whose flows a file lists.
Probe listed(const Subject& s, ProbeKind kind, std::string flows, std::uint32_t message) {
  Probe p{.kind = kind, .lab = fabric(s, kind), .flows = "from,to,bytes,start\n" + std::move(flows)};
  spec::TrafficSpec t = s.like;
  t.name = name(kind);
  t.pattern = spec::TrafficSpec::Pattern::kFile;
  t.file = fmt::format("{}.csv", name(kind));
  t.roce.message = message;
  p.lab.traffic.push_back(std::move(t));
  return p;
}

std::string nic(const Subject& s, std::size_t n) { return fmt::format("{}:{}", s.nics[n].node, s.nics[n].port); }

std::string row(const Subject& s, const Pair& pair, std::int64_t octets, Duration start) {
  return fmt::format("{},{},{},{}ps\n", nic(s, pair.from), nic(s, pair.to), octets, start.ps);
}

// Long enough that the way of the first packet takes 3 % of the time; with small packets, whose headers take more of
// the rate already, 1.5 %.
std::int64_t pair_octets(const Subject& s, std::int64_t bps) {
  const double ways = s.like.roce.path_mtu >= 2048 ? 33 : 66;
  const double octets = static_cast<double>(s.one_way.ps) * ways * static_cast<double>(bps) / 8e12;
  return std::max<std::int64_t>(1 << 20, static_cast<std::int64_t>(octets));
}

Duration time_of(std::int64_t octets, std::int64_t bps) {
  return {static_cast<std::int64_t>(static_cast<double>(octets) * 8e12 / static_cast<double>(bps))};
}

Probe pairs_alone(const Subject& s) {
  std::string flows;
  Duration start{};
  for (const Pair& pair : s.pairs) {
    const std::int64_t bps = s.pair_bps(pair);
    const std::int64_t octets = pair_octets(s, bps);
    flows += row(s, pair, octets, start);
    start = start + time_of(octets * 5 / 4, bps) + s.one_way * 4;
  }
  return listed(s, ProbeKind::kPairsAlone, std::move(flows), 1 << 20);
}

Probe pairs_together(const Subject& s) {
  std::string flows;
  Duration start{};
  for (const std::vector<Pair>& round : rounds_of(s)) {
    Duration longest{};
    for (const Pair& pair : round) {
      const std::int64_t octets = pair_octets(s, s.pair_bps(pair));
      longest = std::max(longest, time_of(octets, s.pair_bps(pair)));
      flows += row(s, pair, octets, start);
    }
    // Pairs that share a link are slow; the next round should not suffer from them. Time without packets costs nothing.
    constexpr std::int64_t kSlowest = 15;
    start = start + longest * kSlowest + s.one_way * 4;
  }
  return listed(s, ProbeKind::kPairsTogether, std::move(flows), 1 << 20);
}

Probe idle_latency(const Subject& s) {
  constexpr std::size_t kSamples = 10'000;
  constexpr std::size_t kMostPairs = 500;
  std::vector<Pair> pairs;
  const std::size_t n = std::min(s.pairs.size(), kMostPairs);
  for (std::size_t i = 0; i < n; ++i) pairs.push_back(s.pairs[i * s.pairs.size() / n]);
  const std::size_t each = (kSamples + n - 1) / n;
  std::string flows;
  const std::int64_t octets = std::min<std::int64_t>(s.like.roce.path_mtu, kFrameOctets);
  Duration start{};
  for (const Pair& pair : pairs) {
    flows += row(s, pair, static_cast<std::int64_t>(each) * octets, start);
    start = start + s.one_way * static_cast<std::int64_t>(each) * 3;
  }
  Probe p = listed(s, ProbeKind::kIdleLatency, std::move(flows), static_cast<std::uint32_t>(octets));
  p.lab.traffic[0].roce.outstanding = 1;
  p.lab.traffic[0].roce.qps = 1;
  return p;
}

// Each NIC to one half a rail away.
std::vector<Pair> far_pairs(const Subject& s) {
  const auto rounds = rounds_of(s);
  return rounds[rounds.size() / 2];
}

std::int64_t all_bps(const Subject& s, const std::vector<Pair>& pairs) {
  std::int64_t sum = 0;
  for (const Pair& p : pairs) sum += s.pair_bps(p);
  return std::max<std::int64_t>(sum, 1);
}

Duration affordable(const Subject& s, const std::vector<Pair>& pairs) {
  const Duration most = time_of(kMostPackets * kFrameOctets, all_bps(s, pairs));
  return std::clamp(most, Duration{300'000'000}, Duration{5'000'000'000});
}

// All send without end until the run ends: one traffic, so that its latencies are those of all.
Probe open_ended(const Subject& s, ProbeKind kind, const std::vector<Pair>& pairs, Duration duration) {
  Probe p{.kind = kind, .lab = fabric(s, kind)};
  spec::TrafficSpec t = s.like;
  t.name = name(kind);
  t.from.clear();
  t.to.clear();
  for (const Pair& pair : pairs) {
    t.from.push_back(nic(s, pair.from));
    t.to.push_back(nic(s, pair.to));
  }
  p.lab.traffic.push_back(std::move(t));
  p.lab.run.duration = duration;
  return p;
}

Probe steady(const Subject& s) {
  const std::vector<Pair> pairs = far_pairs(s);
  return open_ended(s, ProbeKind::kSteady, pairs, affordable(s, pairs));
}

std::optional<Probe> incast(const Subject& s) {
  constexpr std::size_t kMostSenders = 32;
  const std::size_t to = s.nics.size() - 1;
  std::vector<Pair> pairs;
  for (std::size_t n = 0; n < s.nics.size() && pairs.size() < kMostSenders; ++n)
    if (s.nics[n].node != s.nics[to].node && s.nics[n].port == s.nics[to].port) pairs.push_back({n, to});
  if (pairs.size() < 2) return std::nullopt;
  Probe p = open_ended(s, ProbeKind::kIncast, pairs, Duration{2'000'000'000});
  p.lab.traffic[0].to = {nic(s, to)};
  return p;
}

std::optional<Probe> soak(const Subject& s) {
  if (s.settings.soak.ps == 0) return std::nullopt;
  const std::vector<Pair> pairs = far_pairs(s);
  Probe p = open_ended(s, ProbeKind::kSoak, pairs, s.settings.soak);
  std::int64_t least = s.pair_bps(pairs.front());
  for (const Pair& pair : pairs) least = std::min(least, s.pair_bps(pair));
  p.lab.traffic[0].rate = BitRate{least / 10 * 8};
  return p;
}

Probe collective(const Subject& s, ProbeKind kind, spec::CollectiveOperation operation) {
  Probe p{.kind = kind, .lab = fabric(s, kind)};
  spec::CollectiveSpec c;
  c.name = name(kind);
  c.collective = operation;
  c.transport = s.uet ? spec::CollectiveTransport::kUet : spec::CollectiveTransport::kRoce;
  c.path_mtu = s.like.roce.path_mtu;
  c.ip_version = s.like.ip_version;
  c.dscp = s.like.dscp;
  c.ect = s.like.ect;
  c.priority = s.like.priority;
  // Whole elements for each rank.
  constexpr std::int64_t kElement = 4;
  spec::CollectiveSpec all = c;
  all.ranks = {"*"};  // what a file without `ranks` means
  const auto parts = kElement * static_cast<std::int64_t>(std::max<std::size_t>(spec::ranks_at(p.lab, all).size(), 1));
  c.size = {std::max(collective_octets(s) / parts, std::int64_t{1}) * parts};
  p.lab.collectives.push_back(std::move(c));
  return p;
}

// Computing comes with the reference, which the command knows from the estimate (probe.h).
Probe job(const Subject& s) {
  Probe p = collective(s, ProbeKind::kJob, spec::CollectiveOperation::kAllReduce);
  p.lab.collectives[0].repeats = kJobSteps;
  return p;
}

// The same, if some of them cross the fabric; where all stay at their switches, as in rails, each NIC to one at another
// switch, by the shift that lets most of them cross.
std::vector<Pair> crossing_pairs(const Subject& s) {
  const auto crosses = [&](const Pair& p) { return s.nics[p.from].node != s.nics[p.to].node && !s.same_rack(p); };
  std::vector<Pair> best = far_pairs(s);
  if (std::ranges::any_of(best, crosses)) return best;
  std::size_t most = 0;
  const std::size_t n = s.nics.size();
  for (std::size_t shift = 1; shift < n && most < n; ++shift) {
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < n; ++i)
      if (const Pair p{i, (i + shift) % n}; crosses(p)) pairs.push_back(p);
    if (pairs.size() <= most) continue;
    most = pairs.size();
    best = std::move(pairs);
  }
  return best;
}

Probe finite(const Subject& s, ProbeKind kind) {
  const std::vector<Pair> pairs = crossing_pairs(s);
  const Duration lasts = affordable(s, pairs);
  std::string flows;
  for (const Pair& pair : pairs)
    flows += row(
        s, pair,
        static_cast<std::int64_t>(static_cast<double>(s.pair_bps(pair)) * static_cast<double>(lasts.ps) / 8e12), {});
  return listed(s, kind, std::move(flows), 1 << 16);
}

std::optional<Probe> failover(const Subject& s, ProbeKind kind) {
  const std::vector<blast::Element> links = blast::elements(s.lab, {blast::Kind::kLink});
  const auto link = std::ranges::find_if(links, [&](const blast::Element& e) { return !blast::divides(s.lab, e); });
  if (link == links.end()) return std::nullopt;
  Probe p = finite(s, kind);
  // Long enough for what comes after the return, and for senders that wait for their timeouts.
  constexpr std::int64_t kMost = 10;  // s
  p.lab.run.duration = Duration{kMost * kPicosecondsPerSecond};
  if (kind == ProbeKind::kWithoutFailure) return p;
  for (const std::string& fault : blast::faults_of(*link, failure_at(s), failure_lasts(s)))
    p.options.insert(p.options.end(), {"--fault", fault});
  return p;
}

}  // namespace

const char* name(ProbeKind kind) noexcept {
  switch (kind) {
    case ProbeKind::kPairsAlone:
      return "pairs-alone";
    case ProbeKind::kPairsTogether:
      return "pairs-together";
    case ProbeKind::kIdleLatency:
      return "idle-latency";
    case ProbeKind::kSteady:
      return "steady";
    case ProbeKind::kIncast:
      return "incast";
    case ProbeKind::kAllReduce:
      return "all-reduce";
    case ProbeKind::kAllGather:
      return "all-gather";
    case ProbeKind::kAllToAll:
      return "all-to-all";
    case ProbeKind::kJob:
      return "job";
    case ProbeKind::kWithoutFailure:
      return "without-failure";
    case ProbeKind::kFailover:
      return "failover";
    case ProbeKind::kSoak:
      return "soak";
    case ProbeKind::kOwnWork:
      return "own-work";
    case ProbeKind::kOwnCollectives:
      return "own-collectives";
    case ProbeKind::kPace:
      return "pace";
    case ProbeKind::kHostMtu:
      return "hosts-mtu";
    case ProbeKind::kHostLatency:
      return "hosts-latency";
    case ProbeKind::kHostBandwidth:
      return "hosts-bandwidth";
    case ProbeKind::kHostClasses:
      return "hosts-classes";
    case ProbeKind::kHostRdma:
      return "hosts-rdma";
    case ProbeKind::kHostLibfabric:
      return "hosts-libfabric";
    case ProbeKind::kLiveFailover:
      return "live-failover";
    case ProbeKind::kLiveSoak:
      return "live-soak";
  }
  return "";
}

const char* why_not(ProbeKind kind) noexcept {
  switch (kind) {
    case ProbeKind::kIncast:
      return "an incast takes three hosts";
    case ProbeKind::kWithoutFailure:
    case ProbeKind::kFailover:
      return "no link between switches can fail without dividing the hosts";
    case ProbeKind::kSoak:
      return "its time is 0 (--soak)";
    case ProbeKind::kOwnWork:
      return "the file has no work of its own";
    default:
      return "this fabric cannot have its probe";
  }
}

std::vector<std::vector<Pair>> rounds_of(const Subject& s) {
  std::map<int, std::vector<std::size_t>> rails;
  for (std::size_t n = 0; n < s.nics.size(); ++n) rails[s.nics[n].port].push_back(n);
  std::size_t longest = 0;
  for (const auto& [number, rail] : rails) longest = std::max(longest, rail.size());
  // As many rounds as keep within the number of pairs that are measured alone, evenly spread.
  const std::size_t all = longest - 1;
  const std::size_t rounds = std::clamp<std::size_t>(s.settings.most_pairs / s.nics.size(), 1, all);
  std::vector<std::vector<Pair>> out(rounds);
  for (std::size_t r = 0; r < rounds; ++r) {
    const std::size_t shift = 1 + r * all / rounds;
    for (const auto& [number, rail] : rails)
      for (std::size_t i = 0; i < rail.size(); ++i)
        if (const std::size_t to = (i + shift) % rail.size(); to != i) out[r].push_back({rail[i], rail[to]});
  }
  return out;
}

std::int64_t collective_octets(const Subject& s) {
  const auto share = static_cast<std::uint64_t>(kMostPackets * kFrameOctets / 2) / s.nics.size();
  return static_cast<std::int64_t>(std::clamp<std::uint64_t>(std::bit_floor(share), 1 << 20, 64 << 20));
}

Duration soak_interval(const Subject& s) { return affordable(s, far_pairs(s)); }

Duration failure_at(const Subject& s) { return affordable(s, crossing_pairs(s)) / 3; }

Duration failure_lasts(const Subject& s) { return std::max(failure_at(s), blast::convergence(s.lab) * 2); }

std::optional<Probe> probe_of(const Subject& s, ProbeKind kind) {
  switch (kind) {
    case ProbeKind::kPairsAlone:
      return pairs_alone(s);
    case ProbeKind::kPairsTogether:
      return pairs_together(s);
    case ProbeKind::kIdleLatency:
      return idle_latency(s);
    case ProbeKind::kSteady:
      return steady(s);
    case ProbeKind::kIncast:
      return incast(s);
    case ProbeKind::kAllReduce:
      return collective(s, kind, spec::CollectiveOperation::kAllReduce);
    case ProbeKind::kAllGather:
      return collective(s, kind, spec::CollectiveOperation::kAllGather);
    case ProbeKind::kAllToAll:
      return collective(s, kind, spec::CollectiveOperation::kAllToAll);
    case ProbeKind::kJob:
      return job(s);
    case ProbeKind::kWithoutFailure:
    case ProbeKind::kFailover:
      return failover(s, kind);
    case ProbeKind::kSoak:
      return soak(s);
    case ProbeKind::kOwnWork: {
      if (s.lab.traffic.empty() && s.lab.collectives.empty()) return std::nullopt;
      return Probe{.kind = kind, .lab = s.lab};
    }
    default:  // of running labs
      break;
  }
  return std::nullopt;
}

}  // namespace railyard::acceptance
