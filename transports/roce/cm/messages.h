// The messages of connection management (IBTA Vol 1 §12.6; roce-and-lossless §6.2, §6.3): one struct each, one list of
// its fields for reading and writing. Offsets count from the end of the MAD header.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <variant>

#include "dataplane/wire/address.h"
#include "transports/roce/cm/mad.h"

namespace railyard::roce::cm {

template <std::size_t n>
struct PrivateData {
  std::array<std::byte, n> octets{};
  bool operator==(const PrivateData&) const = default;
};

// 44 octets; of a REQ the primary path, and the alternate one, which is zero when there is none.
struct PathRecord {
  std::uint16_t local_lid = 0xFFFF;  // LIDs are not used on Ethernet
  std::uint16_t remote_lid = 0xFFFF;
  wire::IpAddress local_gid{};  // of the one who sends the REQ
  wire::IpAddress remote_gid{};
  std::uint32_t flow_label = 0;  // 20 bits
  std::uint8_t packet_rate = 0;  // 6 bits
  std::uint8_t traffic_class = 0;
  std::uint8_t hop_limit = 0;
  std::uint8_t sl = 0;  // 4 bits
  bool subnet_local = false;
  std::uint8_t local_ack_timeout = 0;  // 5 bits: 4.096 us * 2^n

  bool operator==(const PathRecord&) const = default;
};

// A request for a connection.
struct Req {
  static constexpr Attribute kAttribute = Attribute::kReq;
  std::uint32_t local_comm_id = 0;
  std::uint64_t service_id = 0;
  std::uint64_t local_ca_guid = 0;
  std::uint32_t local_q_key = 0;
  std::uint32_t local_qpn = 0;                   // 24 bits
  std::uint8_t responder_resources = 0;          // READs and atomics that the sender can serve
  std::uint32_t local_eecn = 0;                  // 24 bits
  std::uint8_t initiator_depth = 0;              // and that it will have outstanding
  std::uint32_t remote_eecn = 0;                 // 24 bits
  std::uint8_t remote_cm_response_timeout = 20;  // 5 bits: how soon the receiver answers
  std::uint8_t transport = 0;                    // 2 bits: 0 RC, 1 UC
  bool end_to_end_flow_control = false;
  std::uint32_t starting_psn = 0;               // 24 bits: with which the receiver of this begins to send
  std::uint8_t local_cm_response_timeout = 20;  // 5 bits
  std::uint8_t retry_count = 7;                 // 3 bits
  std::uint16_t p_key = 0xFFFF;
  std::uint8_t path_mtu = 3;  // 4 bits, PathMtu
  bool rdc_exists = false;
  std::uint8_t rnr_retry_count = 7;  // 3 bits
  std::uint8_t max_cm_retries = 15;  // 4 bits
  bool srq = false;
  std::uint8_t extended_transport = 0;  // 3 bits
  PathRecord primary{};
  PathRecord alternate{.local_lid = 0, .remote_lid = 0};
  PrivateData<92> private_data{};

  bool operator==(const Req&) const = default;
};

// "Still working on it".
struct Mra {
  static constexpr Attribute kAttribute = Attribute::kMra;
  std::uint32_t local_comm_id = 0;
  std::uint32_t remote_comm_id = 0;
  std::uint8_t message = 0;          // 2 bits: 0 REQ, 1 REP, 2 LAP
  std::uint8_t service_timeout = 0;  // 5 bits
  PrivateData<222> private_data{};

  bool operator==(const Mra&) const = default;
};

struct Rej {
  static constexpr Attribute kAttribute = Attribute::kRej;
  std::uint32_t local_comm_id = 0;
  std::uint32_t remote_comm_id = 0;
  std::uint8_t message = 0;      // 2 bits: 0 REQ, 1 REP, 2 none
  std::uint8_t info_length = 0;  // 7 bits: of ari
  std::uint16_t reason = 0;      // RejReason
  PrivateData<72> ari{};         // additional rejection information
  PrivateData<148> private_data{};

  bool operator==(const Rej&) const = default;
};

struct Rep {
  static constexpr Attribute kAttribute = Attribute::kRep;
  std::uint32_t local_comm_id = 0;
  std::uint32_t remote_comm_id = 0;
  std::uint32_t local_q_key = 0;
  std::uint32_t local_qpn = 0;     // 24 bits
  std::uint32_t local_eecn = 0;    // 24 bits
  std::uint32_t starting_psn = 0;  // 24 bits: with which the receiver of this begins to send
  std::uint8_t responder_resources = 0;
  std::uint8_t initiator_depth = 0;
  std::uint8_t target_ack_delay = 0;   // 5 bits
  std::uint8_t failover_accepted = 0;  // 2 bits
  bool end_to_end_flow_control = false;
  std::uint8_t rnr_retry_count = 7;  // 3 bits
  bool srq = false;
  std::uint64_t local_ca_guid = 0;
  PrivateData<196> private_data{};

  bool operator==(const Rep&) const = default;
};

// Ready to use.
struct Rtu {
  static constexpr Attribute kAttribute = Attribute::kRtu;
  std::uint32_t local_comm_id = 0;
  std::uint32_t remote_comm_id = 0;
  PrivateData<224> private_data{};

  bool operator==(const Rtu&) const = default;
};

struct Dreq {
  static constexpr Attribute kAttribute = Attribute::kDreq;
  std::uint32_t local_comm_id = 0;
  std::uint32_t remote_comm_id = 0;
  std::uint32_t remote_qpn = 0;  // 24 bits
  PrivateData<220> private_data{};

  bool operator==(const Dreq&) const = default;
};

struct Drep {
  static constexpr Attribute kAttribute = Attribute::kDrep;
  std::uint32_t local_comm_id = 0;
  std::uint32_t remote_comm_id = 0;
  PrivateData<224> private_data{};

  bool operator==(const Drep&) const = default;
};

// Service ID resolution: which QP takes datagrams for a service.
struct SidrReq {
  static constexpr Attribute kAttribute = Attribute::kSidrReq;
  std::uint32_t request_id = 0;
  std::uint16_t p_key = 0xFFFF;
  std::uint64_t service_id = 0;
  PrivateData<216> private_data{};

  bool operator==(const SidrReq&) const = default;
};

enum class SidrStatus : std::uint8_t {
  kValid = 0,  // q_key and qpn are
  kUnsupportedServiceId = 1,
  kRejected = 2,  // by the service
  kNoQp = 3,
  kRedirected = 4,
  kUnsupportedVersion = 5
};

struct SidrRep {
  static constexpr Attribute kAttribute = Attribute::kSidrRep;
  std::uint32_t request_id = 0;
  std::uint8_t status = 0;  // SidrStatus
  std::uint8_t info_length = 0;
  std::uint32_t qpn = 0;  // 24 bits
  std::uint64_t service_id = 0;
  std::uint32_t q_key = 0;
  PrivateData<72> info{};
  PrivateData<136> private_data{};

  bool operator==(const SidrRep&) const = default;
};

// Of those that are met in practice.
enum class RejReason : std::uint16_t {
  kNoQp = 1,
  kNoResources = 3,
  kTimeout = 4,
  kUnsupported = 5,
  kInvalidCommId = 6,
  kInvalidServiceId = 8,  // nobody listens
  kStaleConnection = 10,
  kInvalidPathMtu = 26,
  kResponderResources = 27,
  kConsumer = 28  // the application does not want it
};
std::string_view name(RejReason reason) noexcept;  // "invalid service ID", ...; "other"

using Message = std::variant<Req, Mra, Rej, Rep, Rtu, Dreq, Drep, SidrReq, SidrRep>;
std::string_view name(const Message& message) noexcept;  // "REQ", ...

// Why a datagram to QP 1 is no message of connection management; dropped in silence and counted.
enum class Malformed : std::uint8_t {
  kLength,     // not 256 octets
  kVersion,    // of the MAD or of its class
  kClass,      // another management class
  kMethod,     // not Send
  kStatus,     // not 0
  kAttribute,  // a message that is not known here: LAP, APR
  kCount
};
std::string_view name(Malformed reason) noexcept;  // "length", ...

struct Datagram {
  std::uint64_t transaction_id = 0;
  Message message{};

  bool operator==(const Datagram&) const = default;
};

std::expected<Datagram, Malformed> decode(std::span<const std::byte> mad) noexcept;
// Values fit their fields. Reserved ones are 0.
void encode(std::span<std::byte, kMadOctets> out, const Datagram& datagram) noexcept;

}  // namespace railyard::roce::cm
