#include "transports/roce/qp_state.h"

#include <array>
#include <optional>

namespace railyard::roce {
namespace {

using enum QpAttribute;

struct Allowed {
  QpAttributeSet required{};
  QpAttributeSet optional{};
};

constexpr QpAttributeSet kConnection{kAv, kPathMtu, kDestQpn, kRqPsn};
constexpr QpAttributeSet kLocal{kAccessFlags, kPKeyIndex};

std::optional<Allowed> to_init(QpType type, bool again) noexcept {
  const QpAttributeSet all =
      type == QpType::kUd ? QpAttributeSet{kPKeyIndex, kPort, kQKey} : QpAttributeSet{kPKeyIndex, kPort, kAccessFlags};
  return again ? Allowed{{}, all} : Allowed{all, {}};
}

std::optional<Allowed> to_rtr(QpType type) noexcept {
  switch (type) {
    case QpType::kRc:
      return Allowed{kConnection | QpAttributeSet{kMaxDestRdAtomic, kMinRnrTimer}, kLocal};
    case QpType::kUc:
      return Allowed{kConnection, kLocal};
    case QpType::kUd:
      return Allowed{{}, {kPKeyIndex, kQKey}};
  }
  return std::nullopt;
}

// What may be changed of a QP that sends.
QpAttributeSet while_sending(QpType type) noexcept {
  switch (type) {
    case QpType::kRc:
      return {kAccessFlags, kMinRnrTimer};
    case QpType::kUc:
      return {kAccessFlags};
    case QpType::kUd:
      return {kQKey};
  }
  return {};
}

std::optional<Allowed> to_rts(QpType type, QpState from) noexcept {
  switch (from) {
    case QpState::kRtr:
      if (type == QpType::kRc)
        return Allowed{{kSqPsn, kTimeout, kRetryCnt, kRnrRetry, kMaxRdAtomic}, while_sending(type)};
      return Allowed{{kSqPsn}, while_sending(type)};
    case QpState::kRts:
    case QpState::kSqd:
      return Allowed{{}, while_sending(type)};
    case QpState::kSqe:
      if (type == QpType::kRc) return std::nullopt;
      return Allowed{{}, while_sending(type)};
    default:
      return std::nullopt;
  }
}

std::optional<Allowed> to_sqd(QpType type, QpState from) noexcept {
  if (from == QpState::kRts) return Allowed{};
  if (from != QpState::kSqd) return std::nullopt;
  switch (type) {
    case QpType::kRc:
      return Allowed{{},
                     {kPort, kAv, kTimeout, kRetryCnt, kRnrRetry, kMaxRdAtomic, kMaxDestRdAtomic, kAccessFlags,
                      kPKeyIndex, kMinRnrTimer}};
    case QpType::kUc:
      return Allowed{{}, {kAv, kAccessFlags, kPKeyIndex}};
    case QpType::kUd:
      return Allowed{{}, {kPKeyIndex, kQKey}};
  }
  return std::nullopt;
}

std::optional<Allowed> allowed(QpType type, QpState from, QpState to) noexcept {
  switch (to) {
    case QpState::kReset:
    case QpState::kErr:
      return Allowed{};
    case QpState::kInit:
      if (from != QpState::kReset && from != QpState::kInit) return std::nullopt;
      return to_init(type, from == QpState::kInit);
    case QpState::kRtr:
      return from == QpState::kInit ? to_rtr(type) : std::nullopt;
    case QpState::kRts:
      return to_rts(type, from);
    case QpState::kSqd:
      return to_sqd(type, from);
    case QpState::kSqe:
      return std::nullopt;  // only by an error
  }
  return std::nullopt;
}

bool in_range(QpAttribute attribute, const QpAttributes& v) noexcept {
  switch (attribute) {
    case kPort:
      return v.port == 1;
    case kPathMtu:
      return v.path_mtu >= PathMtu::k256 && v.path_mtu <= PathMtu::k4096;
    case kTimeout:
      return v.timeout <= 31;
    case kRetryCnt:
      return v.retry_cnt <= 7;
    case kRnrRetry:
      return v.rnr_retry <= 7;
    case kRqPsn:
      return v.rq_psn <= Psn::kMax;
    case kSqPsn:
      return v.sq_psn <= Psn::kMax;
    case kMaxRdAtomic:
      return v.max_rd_atomic <= kMostRdAtomic;
    case kMaxDestRdAtomic:
      return v.max_dest_rd_atomic <= kMostRdAtomic;
    case kMinRnrTimer:
      return v.min_rnr_timer <= 31;
    case kDestQpn:
      return v.dest_qpn <= 0xFFFFFF;
    case kAv:
      return v.av.source.is_v4() == v.av.destination.is_v4() && v.av.dscp <= 63 && v.av.priority.index() < kPriorities;
    default:
      return true;
  }
}

constexpr std::array<std::string_view, static_cast<std::size_t>(kCount)> kAttributeNames{
    "qp_access_flags", "pkey_index",         "port_num",   "qkey",   "ah_attr",       "path_mtu",
    "timeout",         "retry_cnt",          "rnr_retry",  "rq_psn", "max_rd_atomic", "min_rnr_timer",
    "sq_psn",          "max_dest_rd_atomic", "dest_qp_num"};
constexpr std::array<std::string_view, kQpStates> kStateNames{"RESET", "INIT", "RTR", "RTS", "SQD", "SQE", "ERR"};

}  // namespace

std::string_view name(QpAttribute attribute) noexcept {
  return attribute < kCount ? kAttributeNames[static_cast<std::size_t>(attribute)] : "";
}
std::string_view name(QpState state) noexcept { return kStateNames[static_cast<std::size_t>(state)]; }
std::string_view name(QpType type) noexcept { return type == QpType::kRc ? "RC" : type == QpType::kUc ? "UC" : "UD"; }

std::string to_string(const ModifyError& error) {
  std::string text;
  text.append(name(error.type)).append(" ").append(name(error.from)).append(" -> ").append(name(error.to));
  switch (error.kind) {
    case ModifyError::Kind::kTransition:
      return text.append(": there is no such transition");
    case ModifyError::Kind::kMissing:
      return text.append(": ").append(name(error.attribute)).append(" is required");
    case ModifyError::Kind::kNotAllowed:
      return text.append(": ").append(name(error.attribute)).append(" cannot be set");
    case ModifyError::Kind::kOutOfRange:
      return text.append(": ").append(name(error.attribute)).append(" is out of range");
  }
  return text;
}

std::expected<void, ModifyError> check_transition(QpType type, QpState from, QpState to, QpAttributeSet given,
                                                  const QpAttributes& values) noexcept {
  using Kind = ModifyError::Kind;
  const auto error = [&](Kind kind, QpAttribute attribute) {
    return std::unexpected(ModifyError{kind, type, from, to, attribute});
  };
  const auto rule = allowed(type, from, to);
  if (!rule) return error(Kind::kTransition, kCount);
  const auto each = [](auto&& wrong) -> std::optional<QpAttribute> {
    for (std::size_t i = 0; i < static_cast<std::size_t>(kCount); ++i)
      if (wrong(static_cast<QpAttribute>(i))) return static_cast<QpAttribute>(i);
    return std::nullopt;
  };
  if (const auto a = each([&](QpAttribute x) { return rule->required.has(x) && !given.has(x); }))
    return error(Kind::kMissing, *a);
  const QpAttributeSet may = rule->required | rule->optional;
  if (const auto a = each([&](QpAttribute x) { return given.has(x) && !may.has(x); }))
    return error(Kind::kNotAllowed, *a);
  if (const auto a = each([&](QpAttribute x) { return given.has(x) && !in_range(x, values); }))
    return error(Kind::kOutOfRange, *a);
  return {};
}

}  // namespace railyard::roce
