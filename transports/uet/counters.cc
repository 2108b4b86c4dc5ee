#include "transports/uet/counters.h"

namespace railyard::uet {

std::string_view name(Drop reason) noexcept {
  constexpr std::array<std::string_view, kDrops> kNames{
      "malformed",     "not_uet",           "trimmed",     "unknown_pdc", "wrong_peer",
      "mode_mismatch", "invalid_syn",       "closed_pdc",  "no_pdc",      "duplicate",
      "out_of_window", "rod_out_of_order",  "no_resource", "ghost_ack",   "ghost_nack",
      "unexpected",    "unknown_packet_id", "no_match",    "no_peer",      "security"};
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace railyard::uet
