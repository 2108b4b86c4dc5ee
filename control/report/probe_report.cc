#include "control/report/probe_report.h"

#include <algorithm>

#include <fmt/format.h>

#include "control/report/json_values.h"
#include "control/report/units.h"
#include "control/spec/value.h"

namespace railyard::report {

std::uint64_t ProbeReport::slow() const noexcept {
  return static_cast<std::uint64_t>(std::ranges::count_if(pairs, &Pair::is_slow));
}

ProbeReport probe_report(const probes::Rounds& rounds) {
  const probes::History& h = rounds.history();
  ProbeReport out{
      .every_ns = rounds.every().ps / 1000, .rounds = h.count(), .skipped = rounds.skipped(), .below = h.below()};
  for (std::size_t p = 0; p < h.pairs().size(); ++p) {
    ProbeReport::Pair& pair = out.pairs.emplace_back();
    pair.source = spec::format(h.pairs()[p].from);
    pair.destination = spec::format(h.pairs()[p].to);
    pair.median_bps = h.median_bps(p);
    if (!h.rounds().empty()) pair.last_bps = h.rounds().back().samples[p].bps;
    if (!h.slow_rounds().empty()) pair.slow_rounds = h.slow_rounds()[p];
  }
  for (const probes::Slow& s : h.slow()) out.pairs[s.pair].is_slow = true;
  return out;
}

nlohmann::ordered_json probe_json(const ProbeReport& p) {
  nlohmann::ordered_json pairs = nlohmann::ordered_json::array();
  for (const ProbeReport::Pair& pair : p.pairs)
    pairs.push_back({{"src", pair.source},
                     {"dst", pair.destination},
                     {"median_bps", or_null(pair.median_bps)},
                     {"last_bps", or_null(pair.last_bps)},
                     {"slow_rounds", pair.slow_rounds},
                     {"slow", pair.is_slow}});
  return {{"every_ns", p.every_ns}, {"rounds", p.rounds}, {"skipped", p.skipped},
          {"below", p.below},       {"slow", p.slow()},   {"pairs", std::move(pairs)}};
}

std::string probe_text(const ProbeReport& p) {
  std::string out =
      fmt::format("Probes: {} pairs, {} rounds; {} pairs more than {:g} % below their median in the last round\n",
                  p.pairs.size(), p.rounds, p.slow(), 100 * p.below);
  std::vector<const ProbeReport::Pair*> slow;
  for (const ProbeReport::Pair& pair : p.pairs)
    if (pair.slow_rounds > 0) slow.push_back(&pair);
  std::ranges::stable_sort(slow, std::ranges::greater{},
                           [](const ProbeReport::Pair* pair) { return pair->slow_rounds; });
  constexpr std::size_t kMost = 10;
  for (std::size_t i = 0; i < std::min(slow.size(), kMost); ++i)
    out += fmt::format("  {} -> {}: slow in {} rounds; last {}, median {}\n", slow[i]->source, slow[i]->destination,
                       slow[i]->slow_rounds, slow[i]->last_bps ? rate_text(*slow[i]->last_bps) : "nothing arrived",
                       slow[i]->median_bps ? rate_text(*slow[i]->median_bps) : "-");
  return out;
}

}  // namespace railyard::report
