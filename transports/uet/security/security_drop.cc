#include "transports/uet/security/security_drop.h"

#include <array>

namespace railyard::uet {

std::string_view name(SecurityDrop reason) noexcept {
  constexpr std::array<std::string_view, kSecurityDrops> kNames{"not_secured",         "trimmed",     "unknown_domain",
                                                                "unknown_association", "stale_epoch", "authentication_failed",
                                                                "replayed"};
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace railyard::uet
