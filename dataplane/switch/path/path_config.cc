#include "dataplane/switch/path/path_config.h"

#include <fmt/format.h>

namespace railyard {

std::expected<void, std::string> validate(const PathConfig& config, const std::string& where) {
  if (config.gap <= Duration{}) return std::unexpected(where + ": a gap of 0; expected one above 0");
  if (config.band <= Duration{}) return std::unexpected(where + ": a band of 0; expected one above 0");
  if (config.report_every <= Duration{}) return std::unexpected(where + ": reports every 0; expected above 0");
  if (config.sampling.every < Duration{}) return std::unexpected(where + ": samples before time; expected 0 or above");
  if (config.sampling.shift > LoadSampling::kMostShift)
    return std::unexpected(fmt::format("{}: a weight of 1/2^{}; expected 1/2^0..1/2^{}", where, config.sampling.shift,
                                       LoadSampling::kMostShift));
  if (config.bands < 1 || config.bands > PathConfig::kMostBands)
    return std::unexpected(
        fmt::format("{}: {} bands; expected 1..{}", where, config.bands, PathConfig::kMostBands));
  return {};
}

}  // namespace railyard
