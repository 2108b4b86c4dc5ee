// The responding half of an RC QP: requests are checked, executed once, and answered in order
// (roce-and-lossless §5.4, §5.5, §5.8, §5.10..§5.12).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "dataplane/base/ring_queue.h"
#include "transports/roce/early_requests.h"
#include "transports/roce/inbound_message.h"
#include "transports/roce/nic_state.h"
#include "transports/roce/psn.h"
#include "transports/roce/qp_info.h"
#include "transports/roce/responder_resources.h"
#include "transports/roce/wire/syndrome.h"

namespace railyard::roce {

class Responder {
 public:
  // Both references outlive it.
  Responder(NicState& nic, QpInfo& qp) : nic_(nic), qp_(qp), message_(nic, qp) {
    if (qp.selective) early_ = std::make_unique<EarlyRequests>(qp.selective->window());
  }

  // INIT -> RTR: expects the attributes' rq_psn. Allocates the resources.
  void start();
  // To RESET: forgets everything, without completions.
  void reset() noexcept;
  // To ERR: the receive request of a message that is half there is flushed. `answers`: those that wait are sent
  // nevertheless, because the last one is the NAK that says why.
  void flush(bool answers) noexcept;

  // A request (nullopt: taken).
  std::optional<Drop> on_request(const Packet& packet, const PayloadRef& payload);

  // What the next packet would be: one that is never held back, or one of a READ's.
  enum class Next : std::uint8_t { kNothing, kControl, kReadResponse };
  Next waiting() const noexcept;
  // The next response. False: there is none.
  bool next(OutPacket& out) noexcept;

  // It has sent, or will send, a NAK that ends the QP.
  bool failed() const noexcept { return failed_; }

  // Where that begins which few packets touch.
  const void* cold() const noexcept { return message_.cold(); }

  Psn expected() const noexcept { return expected_; }
  Msn msn() const noexcept { return msn_; }

 private:
  struct Response {
    enum class Kind : std::uint8_t { kAcknowledge, kRead, kAtomic };
    Kind kind = Kind::kAcknowledge;
    Psn psn{};  // READ: of the next packet
    Msn msn{};
    Syndrome syndrome{};         // kAcknowledge
    Psn came{};                  // and, with selective repeat, of SackEth
    std::uint64_t original = 0;  // kAtomic
    // kRead:
    bool begun = false;
    std::uint64_t address = 0;
    std::uint32_t r_key = 0;
    std::uint32_t octets = 0;  // still to be sent
    std::uint32_t psns = 0;
    std::size_t resource = kNoResource;
  };
  static constexpr std::size_t kNoResource = ~std::size_t{0};

  std::optional<Drop> execute(const Packet& packet, const PayloadRef& payload, bool placed) noexcept;
  std::optional<Drop> on_gap() noexcept;
  std::optional<Drop> on_early(const Packet& packet, const PayloadRef& payload);
  std::optional<Drop> execute_and_catch_up(const Packet& packet, const PayloadRef& payload) noexcept;
  std::optional<Drop> on_duplicate(const Packet& packet) noexcept;
  std::optional<Drop> on_message(const Packet& packet, const PayloadRef& payload, bool placed) noexcept;
  std::optional<Drop> on_read(const Packet& packet) noexcept;
  std::optional<Drop> on_atomic(const Packet& packet) noexcept;
  bool invalidate(std::uint32_t r_key) noexcept;
  bool replay_read(const Packet& packet) noexcept;
  bool replay_atomic(const Packet& packet) noexcept;
  void put_newest_in_order() noexcept;

  Drop refuse(Psn psn, Refusal refusal) noexcept;
  Drop refuse(Psn psn, NakCode code, WcStatus receive) noexcept;
  void acknowledge(Psn psn) noexcept;
  void answer(Psn psn, Syndrome syndrome) noexcept { answer(psn, syndrome, psn); }
  void answer(Psn psn, Syndrome syndrome, Psn came) noexcept;
  std::size_t most_replays() const noexcept;
  void answer_read(const ResponderResource& resource, Psn from, std::uint32_t octets, std::size_t index) noexcept;
  bool next_read(Response& response, OutPacket& out) noexcept;
  Syndrome ack_syndrome() const noexcept;
  void done() noexcept;

  // What every request touches first.
  NicState& nic_;
  QpInfo& qp_;
  RingQueue<Response> responses_;
  Psn expected_{};
  Msn msn_{};
  bool nak_sent_ = false;  // for the gap in front of expected_
  bool rnr_sent_ = false;
  bool failed_ = false;
  std::unique_ptr<EarlyRequests> early_;  // selective repeat only
  InboundMessage message_;
  ResponderResources resources_;
  std::size_t replays_ = 0;  // among responses_
};

}  // namespace railyard::roce
