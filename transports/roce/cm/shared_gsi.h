// QP 1 of a NIC whose QPs are in several processes, each with a connection manager of its own: whose a management
// datagram is, which ports each has, and what is answered where nobody is. Sans-IO. Nothing of what processes and peers
// say is trusted.
//
// A REQ or SIDR_REQ goes by its service ID to who has that port; every other message by the receiver's communication
// ID, of which each process has a range.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "transports/roce/cm/ip_service.h"
#include "transports/roce/cm/messages.h"
#include "transports/roce/cm/open_connections.h"

namespace railyard::roce::cm {

class SharedGsi {
 public:
  // A process: the number of its range of communication IDs, 0 .. kMostOwners - 1.
  using Owner = std::uint32_t;
  static constexpr unsigned kCommIdBits = 20;
  static constexpr std::uint32_t kCommIds = 1u << kCommIdBits;  // of a process
  static constexpr Owner kMostOwners = 1u << (32 - kCommIdBits);
  static constexpr std::uint32_t first_comm_id(Owner owner) noexcept { return owner << kCommIdBits; }

  // Ports that are given out to who does not care, as Linux does (ip_local_port_range).
  static constexpr std::uint16_t kFirstEphemeralPort = 32768, kLastEphemeralPort = 60999;
  static constexpr std::size_t kMostPorts = 8192;  // of a process

  void join(Owner owner) { owners_[owner]; }
  // Its ports are free again. Returns frames that tell its peers, without ICRC.
  std::vector<std::vector<std::byte>> leave(Owner owner);

  enum class ClaimError : std::uint8_t { kTaken, kTooMany, kNoneFree };
  // `port` 0: any that is free. Returns the port.
  std::expected<std::uint16_t, ClaimError> claim(Owner owner, PortSpace space, std::uint16_t port);
  // Nothing happens if it is not the owner's.
  void release(Owner owner, PortSpace space, std::uint16_t port);

  // What becomes of a frame for QP 1.
  struct Verdict {
    std::optional<Owner> owner;     // who gets it
    std::vector<std::byte> answer;  // if nobody does: a frame to be sent in return, without ICRC; empty: none
  };
  // `frame`: from Ethernet to the last octet before the FCS. `icrc_pending`: without its ICRC.
  Verdict for_frame(std::span<const std::byte> frame, bool icrc_pending);

  // Whether a process may send this frame, whose destination is QP 1: with its own communication IDs, or in answer to a
  // request that came to it.
  bool may_send(Owner owner, std::span<const std::byte> frame, bool icrc_pending);

 private:
  std::optional<Owner> receiver(const Message& message) const;
  bool is_own(Owner owner, const wire::IpAddress& peer, const Message& message) const;
  std::optional<Message> refusal(const Message& message) const;

  std::map<Owner, OpenConnections> owners_;
  std::map<std::uint64_t, Owner> ports_;  // by service ID
  std::map<Owner, std::size_t> claimed_;
  std::uint16_t next_port_ = kFirstEphemeralPort;
};

}  // namespace railyard::roce::cm
