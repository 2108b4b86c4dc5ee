// Base Transport Header, IBTA Vol 1 §9.2, and its opcodes; what follows it by opcode is in
// transports/roce/wire/opcode.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::wire {

//   0                   1                   2                   3
//   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//  +---------------+-+-+---+-------+-------------------------------+
//  |    OpCode     |S|M|Pad| TVer  |             P_Key             |
//  +-+-+-----------+-+-+---+-------+-------------------------------+
//  |F|B|   Resv6   |                    DestQP                     |
//  +-+-+-----------+-----------------------------------------------+
//  |A|    Resv7    |                      PSN                      |
//  +-+-------------+-----------------------------------------------+
struct Bth {
  static constexpr std::size_t kOctets = 12;
  using OpCode = Field<0, 8>;
  using SE = Field<8, 1>;
  using MigReq = Field<9, 1>;
  using PadCnt = Field<10, 2>;
  using TVer = Field<12, 4>;
  using PKey = Field<16, 16>;
  using FECN = Field<32, 1>;
  using BECN = Field<33, 1>;  // set in a CNP: RoCEv2, Annex A17
  using Resv6 = Field<34, 6>;
  using DestQP = Field<40, 24>;
  using AckReq = Field<64, 1>;
  using Resv7 = Field<65, 7>;
  using PSN = Field<72, 24>;
};
static_assert(tiles<Bth::kOctets, Bth::OpCode, Bth::SE, Bth::MigReq, Bth::PadCnt, Bth::TVer, Bth::PKey, Bth::FECN,
                    Bth::BECN, Bth::Resv6, Bth::DestQP, Bth::AckReq, Bth::Resv7, Bth::PSN>());

// The OpCode field (IBTA Vol 1 §9.2): bits 7..5 transport, bits 4..0 operation.
namespace roce_opcode {
inline constexpr std::uint8_t kTransportMask = 0xE0;
inline constexpr std::uint8_t kRc = 0x00;
inline constexpr std::uint8_t kUc = 0x20;
inline constexpr std::uint8_t kUd = 0x60;
inline constexpr std::uint8_t kXrc = 0xA0;

inline constexpr std::uint8_t kRcSendFirst = 0x00;
inline constexpr std::uint8_t kRcSendMiddle = 0x01;
inline constexpr std::uint8_t kRcSendLast = 0x02;
inline constexpr std::uint8_t kRcSendLastImm = 0x03;
inline constexpr std::uint8_t kRcSendOnly = 0x04;
inline constexpr std::uint8_t kRcSendOnlyImm = 0x05;
inline constexpr std::uint8_t kRcWriteFirst = 0x06;
inline constexpr std::uint8_t kRcWriteMiddle = 0x07;
inline constexpr std::uint8_t kRcWriteLast = 0x08;
inline constexpr std::uint8_t kRcWriteLastImm = 0x09;
inline constexpr std::uint8_t kRcWriteOnly = 0x0A;
inline constexpr std::uint8_t kRcWriteOnlyImm = 0x0B;
inline constexpr std::uint8_t kRcReadRequest = 0x0C;
inline constexpr std::uint8_t kRcReadResponseFirst = 0x0D;
inline constexpr std::uint8_t kRcReadResponseMiddle = 0x0E;
inline constexpr std::uint8_t kRcReadResponseLast = 0x0F;
inline constexpr std::uint8_t kRcReadResponseOnly = 0x10;
inline constexpr std::uint8_t kRcAcknowledge = 0x11;  // ACK, NAK and RNR NAK
inline constexpr std::uint8_t kRcAtomicAcknowledge = 0x12;
inline constexpr std::uint8_t kRcCompareSwap = 0x13;
inline constexpr std::uint8_t kRcFetchAdd = 0x14;
inline constexpr std::uint8_t kRcSendLastInvalidate = 0x16;
inline constexpr std::uint8_t kRcSendOnlyInvalidate = 0x17;
inline constexpr std::uint8_t kRcFlush = 0x1C;
inline constexpr std::uint8_t kRcAtomicWrite = 0x1D;

inline constexpr std::uint8_t kUcSendFirst = 0x20;
inline constexpr std::uint8_t kUcSendMiddle = 0x21;
inline constexpr std::uint8_t kUcSendLast = 0x22;
inline constexpr std::uint8_t kUcSendLastImm = 0x23;
inline constexpr std::uint8_t kUcSendOnly = 0x24;
inline constexpr std::uint8_t kUcSendOnlyImm = 0x25;
inline constexpr std::uint8_t kUcWriteFirst = 0x26;
inline constexpr std::uint8_t kUcWriteMiddle = 0x27;
inline constexpr std::uint8_t kUcWriteLast = 0x28;
inline constexpr std::uint8_t kUcWriteLastImm = 0x29;
inline constexpr std::uint8_t kUcWriteOnly = 0x2A;
inline constexpr std::uint8_t kUcWriteOnlyImm = 0x2B;

inline constexpr std::uint8_t kUdSendOnly = 0x64;
inline constexpr std::uint8_t kUdSendOnlyImm = 0x65;

inline constexpr std::uint8_t kCnp = 0x81;  // RoCEv2 congestion notification, Annex A17
}  // namespace roce_opcode

}  // namespace railyard::wire
