// Where two sides must agree because sources do not (UET page §13).
#pragma once

namespace railyard::uet {

struct Dialect {
  // An ACK with flag 0x40 has four octets more, the target's Expected_PSN: the reference provider's answer to the close
  // of a secure PDC (UET page §3.3). Otherwise the flag is reserved.
  bool expected_psn_in_ack = false;

  // In a DEFERRABLE_RTR the sender's own token, target_restart_token, stands first, as the reference provider has it,
  // and not initiator_restart_token (UET page §13 item 12).
  bool rtr_own_token_first = false;

  bool operator==(const Dialect&) const = default;
};

// What we speak.
inline constexpr Dialect kStandard{};

// What the public reference provider speaks (UET page §12).
inline constexpr Dialect kRefProv{.expected_psn_in_ack = true, .rtr_own_token_first = true};

}  // namespace railyard::uet
