#include "dataplane/switch/pfc_watchdog.h"

#include <fmt/format.h>

namespace railyard {

std::expected<void, std::string> validate(const PfcWatchdogConfig& c, const std::string& where) {
  const auto bad = [&](const char* key, const char* what) {
    return std::unexpected(fmt::format("{}.{}: {}", where, key, what));
  };
  if (c.poll <= Duration{}) return bad("poll", "is 0; expected a time above 0");
  if (c.detect < c.poll) return bad("detect", "is shorter than poll; expected at least one poll");
  if (c.restore < c.poll) return bad("restore", "is shorter than poll; expected at least one poll");
  return {};
}

}  // namespace railyard
