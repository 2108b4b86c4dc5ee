// MAC control frames: priority-based flow control, IEEE 802.3 annex 31D and 802.1Q clause 36 (802.1Qbb).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>

#include "dataplane/base/drop_reason.h"
#include "dataplane/base/ids.h"
#include "dataplane/wire/ethernet.h"
#include "dataplane/wire/field.h"

namespace railyard::wire {

// What follows the Ethernet header with EtherType 0x8808. Up to kMinFrameOctets the rest is zero.
//
//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +-------------------------------+---------------+---------------+
//  |            Opcode             |       0       |7|6|5|4|3|2|1|0|  priority_enable_vector
//  +-------------------------------+---------------+---------------+
//  |            time[0]            |            time[1]            |
//  +-------------------------------+-------------------------------+
//  |            time[2]            |            time[3]            |
//  +-------------------------------+-------------------------------+
//  |            time[4]            |            time[5]            |
//  +-------------------------------+-------------------------------+
//  |            time[6]            |            time[7]            |
//  +-------------------------------+-------------------------------+
struct MacControl {
  static constexpr std::size_t kOctets = 20;
  using Opcode = Field<0, 16>;
  using Reserved = Field<16, 8>;
  using PriorityEnable = Field<24, 8>;  // bit n, of value 1 << n: priority n

  template <std::size_t priority>
  using Time = Field<32 + 16 * priority, 16>;
};
static_assert(tiles<MacControl::kOctets, MacControl::Opcode, MacControl::Reserved, MacControl::PriorityEnable,
                    MacControl::Time<0>, MacControl::Time<1>, MacControl::Time<2>, MacControl::Time<3>,
                    MacControl::Time<4>, MacControl::Time<5>, MacControl::Time<6>, MacControl::Time<7>>());

namespace mac_control_opcode {
inline constexpr std::uint16_t kPause = 0x0001;  // 802.3x, of the whole link
inline constexpr std::uint16_t kPfc = 0x0101;
}  // namespace mac_control_opcode

inline constexpr MacAddress kMacControlGroup{{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}};

// For each priority whose bit is set in `enable`: do not send for quanta[n] times 512 bit times of this link from now
// on (XOFF); 0: send again (XON).
struct PfcFrame {
  PriorityMask enable = 0;
  std::array<std::uint16_t, kPriorities> quanta{};

  bool operator==(const PfcFrame&) const = default;
};

// Writes a whole frame but for its FCS.
void write_pfc(std::span<std::byte, kMinFrameOctets> out, MacAddress source, const PfcFrame& pfc) noexcept;

// Reads an untagged frame of EtherType 0x8808. kBadMacControl: not PFC, which includes 802.3x pause, or to another
// address than its group's. Bits of the enable vector beyond the eight priorities are ignored.
[[nodiscard]] std::expected<PfcFrame, DropReason> parse_pfc(std::span<const std::byte> frame) noexcept;

}  // namespace railyard::wire
