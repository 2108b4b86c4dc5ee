#include "transports/roce/counters.h"

namespace railyard::roce {

std::string_view name(Drop reason) noexcept {
  constexpr std::array<std::string_view, kDrops> kNames{
      "malformed",       "not_roce",    "trimmed",         "icrc",       "unknown_qp",
      "wrong_transport", "wrong_state", "wrong_peer",      "p_key",      "q_key",
      "out_of_sequence", "duplicate",   "stale_duplicate", "rnr",        "refused",
      "ghost",           "implied_nak", "bad_response",    "no_receive", "broken_message",
      "too_long"};
  return kNames[static_cast<std::size_t>(reason)];
}

}  // namespace railyard::roce
