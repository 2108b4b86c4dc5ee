// The states of a QP and the ways between them (roce-and-lossless §5.15): which attributes a transition requires and
// which it allows.
#pragma once

#include <cstdint>
#include <expected>
#include <string>

#include "transports/roce/qp_attributes.h"

namespace railyard::roce {

// Why a QP stays as it is.
struct ModifyError {
  enum class Kind : std::uint8_t {
    kTransition,  // there is no such way
    kMissing,     // `attribute` is required
    kNotAllowed,  // `attribute` cannot be set here
    kOutOfRange   // the value of `attribute`
  };
  Kind kind = Kind::kTransition;
  QpType type = QpType::kRc;
  QpState from = QpState::kReset;
  QpState to = QpState::kReset;
  QpAttribute attribute = QpAttribute::kCount;

  bool operator==(const ModifyError&) const = default;
};
// "RC INIT -> RTR: path_mtu is required"
std::string to_string(const ModifyError& error);

// Whether a QP of `type` may go from `from` to `to` with the attributes in `given`, whose values are in `values`. Of
// several errors the first in the order of QpAttribute; what is missing before what is too much, values last.
std::expected<void, ModifyError> check_transition(QpType type, QpState from, QpState to, QpAttributeSet given,
                                                  const QpAttributes& values) noexcept;

// What packets may do in a state.
constexpr bool takes_requests(QpState state) noexcept {
  return state == QpState::kRtr || state == QpState::kRts || state == QpState::kSqd || state == QpState::kSqe;
}
constexpr bool takes_responses(QpState state) noexcept { return state == QpState::kRts || state == QpState::kSqd; }
// Send requests may be posted in these; in the last one they are flushed.
constexpr bool takes_sends(QpState state) noexcept {
  return state == QpState::kRts || state == QpState::kSqd || state == QpState::kSqe || state == QpState::kErr;
}
constexpr bool takes_receives(QpState state) noexcept { return state != QpState::kReset; }

}  // namespace railyard::roce
