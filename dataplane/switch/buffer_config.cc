#include "dataplane/switch/buffer_config.h"

#include <fmt/format.h>

namespace railyard {

std::expected<void, std::string> validate(const ClassBuffer& c, const std::string& where) {
  const auto bad = [&](std::string what) { return std::unexpected(where + what); };
  for (const auto& [value, key] : {std::pair{c.alpha, "alpha"}, std::pair{c.queue_alpha, "queue_alpha"}})
    if (value.exponent < Alpha::kLeast || value.exponent > Alpha::kMost)
      return bad(fmt::format(".{}: 2^{} is out of range; expected 2^{}..2^{}", key, value.exponent, Alpha::kLeast,
                             Alpha::kMost));
  for (const auto& [value, key] :
       {std::pair{c.reserved, "reserved"}, std::pair{c.headroom, "headroom"}, std::pair{c.xoff, "xoff"},
        std::pair{c.xon_offset, "xon_offset"}, std::pair{c.credits, "credits"},
        std::pair{c.pooled_headroom, "pooled_headroom"}, std::pair{c.queue_reserved, "queue_reserved"},
        std::pair{c.queue_limit, "queue_limit"}})
    if (value.n < 0) return bad(fmt::format(".{}: {} is negative", key, value.n));
  if (c.lossless && c.xoff.n > 0 && c.xon_offset >= c.xoff)
    return bad(fmt::format(".xon_offset: {} octets is not below xoff ({} octets): the sender would never resume",
                           c.xon_offset.n, c.xoff.n));
  if (!c.lossless && c.credits.n > 0)
    return bad(fmt::format(".credits: {} octets for a class that is not lossless", c.credits.n));
  if (!c.lossless && c.headroom.n > 0)
    return bad(fmt::format(".headroom: {} octets for a class that is not lossless", c.headroom.n));
  return {};
}

std::expected<void, std::string> validate(const BufferConfig& c, const std::string& where) {
  if (c.cell.n < 64 || c.cell.n > 4096)
    return std::unexpected(fmt::format("{}.cell: {} octets; expected 64..4096", where, c.cell.n));
  if (c.size.n < c.cell.n * 64)
    return std::unexpected(fmt::format("{}.size: {} octets is less than 64 cells of {}", where, c.size.n, c.cell.n));
  if (c.size.n > (std::int64_t{1} << 40))
    return std::unexpected(fmt::format("{}.size: {} octets is more than 1 TiB", where, c.size.n));
  if (c.headroom_pool.n < 0 || c.headroom_pool >= c.size)
    return std::unexpected(fmt::format("{}.headroom_pool: {} octets is not less than the buffer of {}", where,
                                       c.headroom_pool.n, c.size.n));
  if (c.size.n / c.cell.n >= std::int64_t{1} << 31)
    return std::unexpected(fmt::format(
        "{}.cell: {} octets makes 2^31 cells or more of {} octets; expected larger cells", where, c.cell.n, c.size.n));
  return {};
}

}  // namespace railyard
