// Bandwidth of pairs: alone, and all NICs at once.
#include <algorithm>

#include <fmt/format.h>

#include "control/acceptance/figures.h"
#include "control/acceptance/item.h"
#include "control/report/units.h"
#include "control/routing/graph.h"
#include "control/structure/structure.h"

namespace railyard::acceptance {
namespace {

constexpr std::size_t kWorst = 10;

std::string rate_of(const PairFigure& p) {
  return p.goodput_bps ? fmt::format("{} ({})", report::rate_text(*p.goodput_bps), share_text(p.share))
                       : "did not complete";
}

Finding judge_pairs(const Subject& s, const nlohmann::ordered_json& report, const std::string& what) {
  std::vector<PairFigure> pairs = pairs_of(s, report);
  std::ranges::stable_sort(pairs, {}, &PairFigure::share);
  const auto bad = static_cast<std::size_t>(
      std::ranges::count_if(pairs, [&](const PairFigure& p) { return p.share < s.settings.least_bandwidth; }));
  Finding f;
  f.threshold = fmt::format(">= {} of the NICs' rate", share_text(s.settings.least_bandwidth));
  if (pairs.empty()) {
    f.answer = Answer::kFail;
    f.found = "no pair was measured";
    return f;
  }
  const PairFigure& worst = pairs.front();
  f.found = fmt::format("worst {}, median {}, of {} {}", rate_of(worst), share_text(pairs[pairs.size() / 2].share),
                        report::count_text(pairs.size()), what);
  f.answer = bad == 0 ? Answer::kPass : Answer::kFail;
  if (bad > 0)
    f.found = fmt::format("{} of {} below; ", report::count_text(bad), report::count_text(pairs.size())) + f.found;
  for (std::size_t i = 0; i < std::min({bad, kWorst, pairs.size()}); ++i)
    f.evidence.push_back(fmt::format("{}: {}", pair_text(pairs[i]), rate_of(pairs[i])));
  f.evidence.push_back(fmt::format("headers and gaps leave {} of a link's rate for payload", share_text(worst.limit)));
  if (worst.limit < s.settings.least_bandwidth)
    f.remedy = fmt::format("The threshold is above what packets of {} bytes can reach: raise the path MTU.",
                           s.like.roce.path_mtu);
  return f;
}

Finding alone(const Subject& s, const Runs& runs) {
  Finding f = judge_pairs(s, report_of(runs, ProbeKind::kPairsAlone), "pairs");
  if (s.pairs.size() < s.all_pairs)
    f.evidence.push_back(fmt::format("{} of {} pairs, drawn by the seed (--pairs)", report::count_text(s.pairs.size()),
                                     report::count_text(s.all_pairs)));
  if (f.answer == Answer::kFail && f.remedy.empty())
    f.remedy =
        "A pair that is slow alone has a slow or lossy link or port on its way: look at the drops and link errors of "
        "these NICs.";
  return f;
}

Finding together(const Subject& s, const Runs& runs) {
  Finding f = judge_pairs(s, report_of(runs, ProbeKind::kPairsTogether),
                          fmt::format("pairs in {} rounds", rounds_of(s).size()));
  const structure::Structure shape = structure::structure(routing::Graph(s.lab));
  double most = 0;
  for (const structure::Tier& t : shape.tiers) most = std::max(most, t.oversubscription().value_or(0));
  if (most > 0) f.evidence.push_back(fmt::format("oversubscription {:.2f}:1", most));
  if (f.answer == Answer::kFail && f.remedy.empty())
    f.remedy =
        most > 1
            ? "The fabric is oversubscribed: pairs that cross it share its links."
            : "Flows share links although there are enough: more QPs per flow, adaptive routing, spraying, or UET.";
  return f;
}

Finding racks(const Subject& s, const Runs& runs) {
  struct Side {
    double goodput = 0, latency = 0;
    std::size_t n = 0;
  } near, far;
  for (const PairFigure& p : pairs_of(s, report_of(runs, ProbeKind::kPairsAlone))) {
    if (!p.goodput_bps || !p.latency_ns) continue;
    Side& side = p.same_rack ? near : far;
    side.goodput += *p.goodput_bps;
    ++side.n;
  }
  for (const PairFigure& p : pairs_of(s, report_of(runs, ProbeKind::kIdleLatency)))
    if (p.latency_ns) (p.same_rack ? near : far).latency += *p.latency_ns;
  std::size_t near_latencies = 0, far_latencies = 0;
  for (const PairFigure& p : pairs_of(s, report_of(runs, ProbeKind::kIdleLatency)))
    if (p.latency_ns) ++(p.same_rack ? near_latencies : far_latencies);
  Finding f;
  f.threshold = fmt::format("bandwidth within {}", share_text(s.settings.rack_difference));
  if (near.n == 0 || far.n == 0 || near_latencies == 0 || far_latencies == 0) {
    f.answer = Answer::kNotRun;
    f.found = far.n == 0 ? "all pairs are at one switch" : "no two hosts share a switch";
    f.threshold.clear();
    return f;
  }
  const double a = near.goodput / static_cast<double>(near.n), b = far.goodput / static_cast<double>(far.n);
  f.answer = 1 - b / a > s.settings.rack_difference ? Answer::kWarn : Answer::kPass;
  f.found = fmt::format(
      "{} at one switch, {} across the fabric; latency p50 {} and {}", report::rate_text(a), report::rate_text(b),
      report::nanoseconds_text(static_cast<std::uint64_t>(near.latency / static_cast<double>(near_latencies))),
      report::nanoseconds_text(static_cast<std::uint64_t>(far.latency / static_cast<double>(far_latencies))));
  if (f.answer == Answer::kWarn) f.remedy = "Place ranks that talk most at one switch: `railyard place`.";
  return f;
}

}  // namespace

namespace list {
const Item kBandwidthAlone{"bandwidth-alone",
                           "Does every pair alone reach its NICs' rate?",
                           "design guides: point-to-point between every pair, 90 % of the NIC's rate",
                           {ProbeKind::kPairsAlone},
                           alone};
const Item kBandwidthTogether{"bandwidth-together",
                              "And all NICs at once, each to another in every round?",
                              "design guides: 90 % of the NIC's rate; fabrics of 1.1:1 to 1.2:1 are common",
                              {ProbeKind::kPairsTogether},
                              together};
const Item kRacks{"racks",
                  "Are pairs across the fabric as good as pairs at one switch?",
                  "design guides; the limit of 30 % is Railyard's",
                  {ProbeKind::kPairsAlone, ProbeKind::kIdleLatency},
                  racks};
}  // namespace list

}  // namespace railyard::acceptance
