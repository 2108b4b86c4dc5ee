// Management datagrams of connection management: payload of a UD SEND Only from QP 1 to QP 1 (roce-and-lossless §6.1).
#pragma once

#include <cstddef>
#include <cstdint>

#include "dataplane/wire/field.h"

namespace railyard::roce::cm {

inline constexpr std::size_t kMadOctets = 256;

// The common header; the message follows.
//  +---------------+---------------+---------------+---------------+
//  | Base Version  |  Mgmt Class   | Class Version |R|   Method    |
//  +---------------+---------------+-------------------------------+
//  |            Status             |        Class Specific         |
//  +-------------------------------+-------------------------------+
//  |                    Transaction ID, 8 octets                   |
//  +-------------------------------+-------------------------------+
//  |         Attribute ID          |           Reserved            |
//  +-------------------------------+-------------------------------+
//  |                      Attribute Modifier                       |
//  +---------------------------------------------------------------+
struct Mad {
  static constexpr std::size_t kOctets = 24;
  using BaseVersion = wire::Field<0, 8>;
  using MgmtClass = wire::Field<8, 8>;
  using ClassVersion = wire::Field<16, 8>;
  using Method = wire::Field<24, 8>;  // R, response, included
  using Status = wire::Field<32, 16>;
  using ClassSpecific = wire::Field<48, 16>;
  using TransactionID = wire::Field<64, 64>;
  using AttributeID = wire::Field<128, 16>;
  using Reserved = wire::Field<144, 16>;
  using AttributeModifier = wire::Field<160, 32>;
};
static_assert(
    wire::tiles<Mad::kOctets, Mad::BaseVersion, Mad::MgmtClass, Mad::ClassVersion, Mad::Method, Mad::Status,
                Mad::ClassSpecific, Mad::TransactionID, Mad::AttributeID, Mad::Reserved, Mad::AttributeModifier>());

inline constexpr std::uint8_t kBaseVersion = 1;
inline constexpr std::uint8_t kCmClass = 0x07;
inline constexpr std::uint8_t kCmClassVersion = 2;
inline constexpr std::uint8_t kMethodSend = 0x03;

// Attribute IDs of connection management.
enum class Attribute : std::uint16_t { kReq = 0x10, kMra, kRej, kRep, kRtu, kDreq, kDrep, kSidrReq, kSidrRep };

}  // namespace railyard::roce::cm
