#include "dataplane/switch/trim.h"

#include <fmt/format.h>

namespace railyard {

std::expected<void, std::string> validate(const TrimConfig& c, Priority of, const std::string& where) {
  constexpr std::uint32_t kMost = 9238;
  if (c.keep < kLeastTrimmedOctets || c.keep > kMost)
    return std::unexpected(
        fmt::format("{}.keep: {} octets; expected {}..{}", where, c.keep, kLeastTrimmedOctets, kMost));
  if (c.dscp > 63) return std::unexpected(fmt::format("{}.dscp: {}; expected 0..63", where, c.dscp));
  if (c.to.index() >= kPriorities)
    return std::unexpected(fmt::format("{}.class: {}; expected 0..7", where, c.to.value));
  if (c.to == of)
    return std::unexpected(
        fmt::format("{}.class: {} is the class whose queue is full; expected another class", where, c.to.value));
  return {};
}

}  // namespace railyard
