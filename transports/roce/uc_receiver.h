// The receiving half of a UC QP (IBTA Vol 1 §9.8.2, roce-and-lossless §5.13): nothing is acknowledged; a message of which
// a packet is missing is forgotten, and what follows is skipped until another one begins.
//
// A First or Only packet begins a message with any PSN: what is behind the expected PSN cannot be told from a packet
// after a long loss. So a message of one packet that the network doubles is executed twice, as in the kernel's drivers.
#pragma once

#include <optional>

#include "transports/roce/inbound_message.h"
#include "transports/roce/psn.h"

namespace railyard::roce {

class UcReceiver {
 public:
  UcReceiver(NicState& nic, QpInfo& qp) noexcept : qp_(qp), message_(nic, qp) {}

  // INIT -> RTR: expects the attributes' rq_psn.
  void start() noexcept {
    reset();
    expected_ = Psn(qp_.attributes.rq_psn);
  }
  void reset() noexcept {
    message_.reset();
    failed_ = false;
  }
  void flush() noexcept {
    message_.fail(WcStatus::kWrFlushErr);
    failed_ = false;
  }

  // nullopt: taken.
  std::optional<Drop> on_request(const Packet& packet, const PayloadRef& payload) noexcept;

  // A receive request could not take what came for it: the QP goes to ERR.
  bool failed() const noexcept { return failed_; }

 private:
  QpInfo& qp_;
  InboundMessage message_;
  Psn expected_{};
  bool failed_ = false;
};

}  // namespace railyard::roce
