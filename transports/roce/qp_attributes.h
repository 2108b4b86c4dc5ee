// What a QP is set up with, attribute by attribute, as verbs' ibv_modify_qp takes them.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "transports/base/memory_regions.h"
#include "transports/roce/ids.h"
#include "transports/roce/path.h"
#include "transports/roce/psn.h"
#include "transports/roce/wire/path_mtu.h"

namespace railyard::roce {

enum class QpType : std::uint8_t { kRc, kUc, kUd };
// In the order of verbs.
enum class QpState : std::uint8_t { kReset, kInit, kRtr, kRts, kSqd, kSqe, kErr };
inline constexpr std::size_t kQpStates = 7;

// Bits of QpAttributeSet.
enum class QpAttribute : std::uint8_t {
  kAccessFlags,
  kPKeyIndex,
  kPort,
  kQKey,
  kAv,
  kPathMtu,
  kTimeout,
  kRetryCnt,
  kRnrRetry,
  kRqPsn,
  kMaxRdAtomic,
  kMinRnrTimer,
  kSqPsn,
  kMaxDestRdAtomic,
  kDestQpn,
  kCount
};
// As verbs spells it, e.g. "path_mtu".
std::string_view name(QpAttribute attribute) noexcept;
std::string_view name(QpState state) noexcept;  // "RESET", ...
std::string_view name(QpType type) noexcept;    // "RC", ...

class QpAttributeSet {
 public:
  constexpr QpAttributeSet() noexcept = default;
  constexpr QpAttributeSet(std::initializer_list<QpAttribute> attributes) noexcept {
    for (const QpAttribute a : attributes) bits_ |= bit(a);
  }
  bool operator==(const QpAttributeSet&) const = default;

  constexpr bool has(QpAttribute a) const noexcept { return (bits_ & bit(a)) != 0; }
  constexpr QpAttributeSet without(QpAttribute a) const noexcept {
    QpAttributeSet less = *this;
    less.bits_ &= ~bit(a);
    return less;
  }
  friend constexpr QpAttributeSet operator|(QpAttributeSet a, QpAttributeSet b) noexcept {
    a.bits_ |= b.bits_;
    return a;
  }

 private:
  static constexpr std::uint32_t bit(QpAttribute a) noexcept { return 1u << static_cast<unsigned>(a); }
  std::uint32_t bits_ = 0;
};

// Numbers are kept as they were given, so that what is out of range can be said.
struct QpAttributes {
  AccessSet access_flags{};      // what peers may do through this QP, besides what its regions permit
  std::uint16_t pkey_index = 0;  // into EngineConfig::p_keys
  std::uint8_t port = 1;         // a NIC has one port, 1
  std::uint32_t q_key = 0;       // UD
  AddressVector av{};            // RC, UC: to the peer
  PathMtu path_mtu = PathMtu::k1024;
  // DEVIATION IBTA Vol 1 §9.5 (256 .. 4096 by powers of two): octets in its place, a multiple of 4; 0: path_mtu. Published
  // simulations have 1000.
  std::uint32_t free_path_mtu = 0;
  std::uint8_t timeout = 14;             // 0..31: local ACK timeout 4.096 us * 2^n; 0: none
  std::uint8_t retry_cnt = 7;            // 0..7
  std::uint8_t rnr_retry = 7;            // 0..7; 7: without end
  std::uint32_t rq_psn = 0;              // 24 bits
  std::uint16_t max_rd_atomic = 1;       // READs and atomics that may be outstanding here, at most kMostRdAtomic
  std::uint8_t min_rnr_timer = 12;       // 0..31: code of the delay that RNR NAKs ask for
  std::uint32_t sq_psn = 0;              // 24 bits
  std::uint16_t max_dest_rd_atomic = 1;  // READs and atomics that the peer may have outstanding
  std::uint32_t dest_qpn = 0;            // 24 bits
};

inline constexpr std::uint16_t kMostRdAtomic = 128;

}  // namespace railyard::roce
