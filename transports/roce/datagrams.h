// A UD QP (roce-and-lossless §5.14): one packet per message, to whom each work request says; nothing is acknowledged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <expected>
#include <optional>
#include <span>

#include "dataplane/base/ring_queue.h"
#include "transports/roce/nic_state.h"
#include "transports/roce/psn.h"
#include "transports/roce/qp_info.h"
#include "transports/roce/work_request.h"

namespace railyard::roce {

// The address handles of one engine. They stay where they are as long as it lives.
using AddressHandles = std::deque<Path>;

class DatagramSender {
 public:
  // At most `most_wrs` work requests wait. The references outlive it.
  DatagramSender(NicState& nic, QpInfo& qp, const AddressHandles& handles, std::size_t most_wrs) noexcept
      : nic_(nic), qp_(qp), handles_(handles), most_wrs_(most_wrs) {}

  std::expected<void, PostError> post(const SendWr& wr);
  void start() noexcept { next_ = Psn(qp_.attributes.sq_psn); }
  void reset() noexcept;
  // Every work request completes with WR_FLUSH_ERR.
  void flush() noexcept;

  bool ready() const noexcept { return (qp_.state == QpState::kRts) && !sq_.empty(); }
  // The class of the next packet; there is one.
  Priority priority() const noexcept { return handles_[sq_.front().ah.index()].priority(); }
  // False: there is none (and maybe failed()).
  bool next(OutPacket& out);

  // A work request completed with an error: the QP goes to SQE.
  bool failed() const noexcept { return failed_; }

 private:
  void complete_oldest(WcStatus status) noexcept;

  NicState& nic_;
  QpInfo& qp_;
  const AddressHandles& handles_;
  std::size_t most_wrs_;
  RingQueue<SendWr> sq_;
  Psn next_{};
  bool failed_ = false;
};

// Takes a datagram that came in the IP packet which begins with `ip`. nullopt: taken.
std::optional<Drop> receive_datagram(NicState& nic, QpInfo& qp, const Packet& packet, std::span<const std::byte> ip,
                                     const PayloadRef& payload) noexcept;

}  // namespace railyard::roce
