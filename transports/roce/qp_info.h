// What both halves of a QP, requester and responder, know of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "transports/roce/completion_queue.h"
#include "transports/roce/path.h"
#include "transports/roce/psn.h"
#include "transports/roce/qp_attributes.h"
#include "transports/roce/qp_counters.h"
#include "transports/roce/receive_queue.h"
#include "transports/roce/selective_repeat.h"
#include "transports/roce/wire/p_key.h"
#include "transports/roce/wire/packet.h"

namespace railyard::roce {

struct QpInfo {
  QpNumber number{};
  QpType type = QpType::kRc;
  QpState state = QpState::kReset;
  bool signal_all = false;  // every send request wants a completion
  bool has_srq = false;
  ProtectionDomain domain{};
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* recv_cq = nullptr;
  ReceiveQueue* receives = nullptr;      // its own or an SRQ
  std::uint8_t transport = opcode::kRc;  // bits of its opcodes
  // Out of the attributes, where each packet finds it:
  AccessSet access{};
  std::uint16_t p_key = kDefaultPKey;
  std::uint32_t path_mtu = 1024;  // octets
  std::uint32_t dest_qpn = 0;
  Path path{};
  QpCounters counters{};  // those of data first
  // What fewer packets look at.
  QpAttributes attributes{};
  std::optional<SelectiveRepeatConfig> selective{};  // RC; else go-back-N

  // The BTH of a packet to the peer; `operation` is RC's opcode, or its own transport's.
  BthValues bth(std::uint8_t operation, Psn psn) const noexcept {
    return {.opcode = static_cast<std::uint8_t>(operation | transport),
            .p_key = p_key,
            .dest_qp = dest_qpn,
            .psn = psn.value()};
  }
};

// A packet to be sent.
struct OutPacket {
  Packet packet{};
  PayloadRef payload{};  // until the engine is asked for packets again
  const Path* path = nullptr;
  // In-band telemetry beside the packet: what it begins with, or what came with another one and goes back.
  const PathTelemetry* telemetry = nullptr;
};

}  // namespace railyard::roce
