#include "control/probes/history.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "control/spec/value.h"

namespace railyard::probes {
namespace {

std::string rate(double bps) {
  if (bps >= 1e9) return fmt::format("{:.3g} Gb/s", bps / 1e9);
  return fmt::format("{:.3g} Mb/s", bps / 1e6);
}

}  // namespace

std::optional<double> History::median_bps(std::size_t pair, std::size_t but) const {
  std::vector<double> all;
  for (std::size_t r = 0; r + but < rounds_.size(); ++r)
    if (const Sample& s = rounds_[r].samples[pair]; s.measured && s.bps) all.push_back(*s.bps);
  if (all.size() < kLeast) return std::nullopt;
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::ranges::nth_element(all, middle);
  return *middle;
}

const std::vector<Slow>& History::add(Round round) {
  round.number = ++count_;
  rounds_.push_back(std::move(round));
  if (rounds_.size() > kept_) rounds_.pop_front();
  slow_.clear();
  slow_rounds_.resize(pairs_.size());
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    const Sample& now = rounds_.back().samples[p];
    const auto median = now.measured ? median_bps(p, 1) : std::nullopt;
    if (!median || now.bps.value_or(0) >= (1 - below_) * *median) continue;
    slow_.push_back({p, now.bps.value_or(0), *median});
    ++slow_rounds_[p];
  }
  std::ranges::stable_sort(slow_, {}, [](const Slow& s) { return s.bps / s.median; });
  return slow_;
}

std::string History::text(const Slow& s) const {
  const Pair& pair = pairs_[s.pair];
  return fmt::format("{} -> {}: {}, {:.1f} % below its median of {}", spec::format(pair.from), spec::format(pair.to),
                     s.bps > 0 ? rate(s.bps) : "no probe arrived", 100 * (1 - s.bps / s.median), rate(s.median));
}

nlohmann::json json_of(const History& history, const Round& round) {
  nlohmann::json pairs = nlohmann::json::array();
  for (std::size_t p = 0; p < round.samples.size(); ++p) {
    const Sample& s = round.samples[p];
    if (!s.measured) continue;
    pairs.push_back({{"from", spec::format(history.pairs()[p].from)},
                     {"to", spec::format(history.pairs()[p].to)},
                     {"bps", s.bps ? nlohmann::json(*s.bps) : nlohmann::json(nullptr)},
                     {"p50_ns", s.p50_ns ? nlohmann::json(*s.p50_ns) : nlohmann::json(nullptr)},
                     {"lost", s.lost}});
  }
  nlohmann::json out{
      {"round", round.number}, {"at_seconds", seconds(round.at - Instant{})}, {"pairs", std::move(pairs)}};
  if (!history.rounds().empty() && round.number == history.rounds().back().number) {
    out["slow"] = nlohmann::json::array();
    for (const Slow& s : history.slow())
      out["slow"].push_back({{"from", spec::format(history.pairs()[s.pair].from)},
                             {"to", spec::format(history.pairs()[s.pair].to)},
                             {"bps", s.bps},
                             {"median_bps", s.median},
                             {"text", history.text(s)}});
  }
  return out;
}

}  // namespace railyard::probes
