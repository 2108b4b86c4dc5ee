// The SEND or WRITE that is coming in: where it goes and how much of it is there. The order of its packets and what
// they may do are checked here; what follows from that (a NAK, silence) is up to the responder of the QP's type.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "dataplane/base/ring_queue.h"
#include "transports/roce/completion.h"
#include "transports/roce/nic_state.h"
#include "transports/roce/qp_info.h"
#include "transports/roce/wire/packet.h"

namespace railyard::roce {

// Why a packet is not taken.
enum class Refusal : std::uint8_t {
  kOrder,         // First, Middle, Last do not follow each other so
  kLengths,       // payload or padding are not as the opcode wants them, or not those of the RETH
  kNotPermitted,  // the QP takes no such operation
  kNoReceive,     // there is no receive request for it
  kTooLong,       // for its receive request
  kRemoteAccess,  // the R_Key, the range, or what the region permits
  kLocalAccess    // memory that a receive request names
};

class InboundMessage {
 public:
  InboundMessage(NicState& nic, QpInfo& qp) noexcept : nic_(nic), qp_(qp) {}

  // Takes a SEND or WRITE packet that is next; after a refusal nothing is as if it had come. True: it was the last one
  // of its message, and finish() is due. `placed`: its payload is where it goes already.
  std::expected<bool, Refusal> take(const Packet& packet, const PayloadRef& payload, bool placed = false) noexcept;
  // Selective repeat: puts the payload of a packet that is not next where it goes, by its SRETH. False: that is not
  // known yet, or it may not; nothing is changed. Receive requests that it needs are taken from the queue, and held.
  bool place_early(const Packet& packet, const PayloadRef& payload);
  // The message is whole: completes its receive request, if it has one.
  void finish(const Packet& last) noexcept;
  // Forgets what is there of a message; its receive request is for the next one.
  void abandon() noexcept;
  // Completes the receive request that is held, if any, with an error.
  void fail(WcStatus status) noexcept;
  // Forgets everything, the receive request, too.
  void reset() noexcept;

  const void* cold() const noexcept { return &early_; }

  // Between First and Last; then only its next packet may come.
  bool open() const noexcept { return operation_ != Operation::kReserved; }

 private:
  std::expected<bool, Refusal> take_send(const Packet& packet, const PayloadRef& payload, bool placed) noexcept;
  std::expected<bool, Refusal> take_write(const Packet& packet, const PayloadRef& payload, bool placed) noexcept;
  const RecvWr* receive_of(std::uint32_t number);
  void fail_early(WcStatus status) noexcept;
  bool hold_receive() noexcept;
  void note_identity(const PayloadRef& payload) noexcept;
  void close() noexcept;

  NicState& nic_;
  QpInfo& qp_;
  Operation operation_ = Operation::kReserved;
  bool intact_ = true;
  std::uint32_t r_key_ = 0;
  std::uint64_t address_ = 0;  // WRITE: of the message
  std::uint32_t length_ = 0;   // WRITE: of the message
  std::uint32_t placed_ = 0;
  PayloadRef first_{};             // names the message's first octet
  std::uint32_t received_ = 0;     // receive requests that messages have taken, 24 bits
  RingQueue<RecvWr> early_;        // selective repeat: held for the messages after this one, in order
  std::optional<RecvWr> receive_;  // taken for a SEND, or for the end of a WRITE with immediate
};

}  // namespace railyard::roce
