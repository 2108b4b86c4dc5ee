#include "dataplane/switch/ecn_marking.h"

#include <fmt/format.h>

namespace railyard {

std::expected<void, std::string> validate(const EcnConfig& c, const std::string& where) {
  if (!c.enabled) return {};
  const auto bad = [&](std::string what) { return std::unexpected(where + what); };
  if (c.kmin.n < 0) return bad(fmt::format(".kmin: {} octets is negative", c.kmin.n));
  if (c.kmin > c.kmax) return bad(fmt::format(".kmin: {} octets is above kmax ({} octets)", c.kmin.n, c.kmax.n));
  if (c.pmax_ppm > 1'000'000) return bad(fmt::format(".pmax: {} is above 1", static_cast<double>(c.pmax_ppm) * 1e-6));
  return {};
}

}  // namespace railyard
