#include "dataplane/switch/wred.h"

#include <utility>

#include <fmt/format.h>

namespace railyard {

std::expected<void, std::string> validate(const WredConfig& config, const std::string& where) {
  for (const auto& [name, r] : {std::pair{"ect", config.ect}, std::pair{"not-ect", config.not_ect}}) {
    if (!r.enabled) continue;
    const auto bad = [&](std::string what) { return std::unexpected(fmt::format("{}.{}{}", where, name, what)); };
    if (r.min.n < 0) return bad(fmt::format(".min: {} octets is negative", r.min.n));
    if (r.min > r.max) return bad(fmt::format(".min: {} octets is above max ({} octets)", r.min.n, r.max.n));
    if (r.probability_ppm > 1'000'000)
      return bad(fmt::format(".probability: {} is above 1", static_cast<double>(r.probability_ppm) * 1e-6));
  }
  return {};
}

}  // namespace railyard
