// What an ACK_CC says for congestion control, UET page §3.4: the 64 bits of ack_cc_state, by cc_type.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "dataplane/wire/field.h"

namespace railyard::uet {

// 2..15 are reserved; of ACK_CCX (ccx_type) 14 and 15 are for vendors.
enum class CcType : std::uint8_t { kNscc = 0, kCredit = 1 };

// "NSCC"; "" if reserved.
std::string_view name(CcType type) noexcept;

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+-+-------------+---------------+
//  |         service_time          |R|rcv_cwnd_pend| rcvd_bytes    |
//  +-------------------------------+-+-------------+---------------+
//  |           rcvd_bytes          |           ooo_count           |
//  +-------------------------------+-------------------------------+
struct NsccState {
  static constexpr std::size_t kOctets = 8;
  using ServiceTime = wire::Field<0, 16>;
  using RestoreCwnd = wire::Field<16, 1>;
  using RcvCwndPend = wire::Field<17, 7>;
  using RcvdBytes = wire::Field<24, 24>;
  using OooCount = wire::Field<48, 16>;
};
static_assert(wire::tiles<NsccState::kOctets, NsccState::ServiceTime, NsccState::RestoreCwnd, NsccState::RcvCwndPend,
                          NsccState::RcvdBytes, NsccState::OooCount>());

inline constexpr std::uint16_t kServiceTimeInvalid = 0;
inline constexpr std::uint16_t kServiceTimeTooLong = 0xFFFF;  // more than about 8.388 ms
inline constexpr std::uint16_t kOooCountInvalid = 0xFFFF;
inline constexpr std::int64_t kServiceTimeNanoseconds = 128;  // the unit of service_time
inline constexpr std::int64_t kCreditOctets = 256;            // the unit of rcvd_bytes, credit and credit_target

struct NsccStateValues {
  std::uint16_t service_time = 0;  // how long the packet was in the receiver before the ACK, in units of 128 ns
  bool restore_cwnd = false;       // cancels an earlier penalty
  std::uint8_t rcv_cwnd_pend = 0;  // 7 bits: the receiver's penalty on the window, in 1/128
  std::uint32_t rcvd_bytes = 0;    // 24 bits: received in this context, in units of 256 octets; wraps
  std::uint16_t ooo_count = 0;     // packets received beyond the first gap

  bool operator==(const NsccStateValues&) const = default;
};

//  +-----------------------------------------------+---------------+
//  |                    credit                     |   reserved    |
//  +-------------------------------+---------------+---------------+
//  |           reserved            |           ooo_count           |
//  +-------------------------------+-------------------------------+
struct CreditState {
  static constexpr std::size_t kOctets = 8;
  using Credit = wire::Field<0, 24>;
  using Reserved = wire::Field<24, 24>;
  using OooCount = wire::Field<48, 16>;
};
static_assert(wire::tiles<CreditState::kOctets, CreditState::Credit, CreditState::Reserved, CreditState::OooCount>());

struct CreditStateValues {
  std::uint32_t credit = 0;  // 24 bits: granted since the PDC began, in units of 256 octets
  std::uint16_t ooo_count = 0;

  bool operator==(const CreditStateValues&) const = default;
};

namespace detail {
using StateOctets = std::array<std::byte, 8>;
using StateWord = wire::Field<0, 64>;
}  // namespace detail

// To and from the 64 bits of PdsAckValues::cc_state.
constexpr NsccStateValues nscc_state(std::uint64_t cc_state) noexcept {
  detail::StateOctets at{};
  wire::write<detail::StateWord>(at.data(), cc_state);
  return {.service_time = wire::read<NsccState::ServiceTime>(at.data()),
          .restore_cwnd = wire::read<NsccState::RestoreCwnd>(at.data()) != 0,
          .rcv_cwnd_pend = wire::read<NsccState::RcvCwndPend>(at.data()),
          .rcvd_bytes = wire::read<NsccState::RcvdBytes>(at.data()),
          .ooo_count = wire::read<NsccState::OooCount>(at.data())};
}
constexpr std::uint64_t to_cc_state(const NsccStateValues& values) noexcept {
  detail::StateOctets at{};
  wire::write<NsccState::ServiceTime>(at.data(), values.service_time);
  wire::write<NsccState::RestoreCwnd>(at.data(), values.restore_cwnd ? 1 : 0);
  wire::write<NsccState::RcvCwndPend>(at.data(), values.rcv_cwnd_pend);
  wire::write<NsccState::RcvdBytes>(at.data(), values.rcvd_bytes);
  wire::write<NsccState::OooCount>(at.data(), values.ooo_count);
  return wire::read<detail::StateWord>(at.data());
}
constexpr CreditStateValues credit_state(std::uint64_t cc_state) noexcept {
  detail::StateOctets at{};
  wire::write<detail::StateWord>(at.data(), cc_state);
  return {.credit = wire::read<CreditState::Credit>(at.data()),
          .ooo_count = wire::read<CreditState::OooCount>(at.data())};
}
constexpr std::uint64_t to_cc_state(const CreditStateValues& values) noexcept {
  detail::StateOctets at{};
  wire::write<CreditState::Credit>(at.data(), values.credit);
  wire::write<CreditState::OooCount>(at.data(), values.ooo_count);
  return wire::read<detail::StateWord>(at.data());
}

}  // namespace railyard::uet
