// A server that udaddy's clients talk to (rdma-core, librdmacm/examples/udaddy.c, its public protocol): they resolve
// its port by rdma_cm, which takes a SIDR_REQ, and send datagrams whose immediate data are their QP's number; each goes
// back as it came, with the server's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/roce/services/service_context.h"
#include "transports/roce/services/service_counters.h"

namespace railyard::roce {

inline constexpr std::uint16_t kUdaddyPort = 7174;

class UdaddyServer {
 public:
  // Datagrams that wait to be answered, at most; more are dropped, as UD does.
  static constexpr std::size_t kPlaces = 128;

  // Its QP takes datagrams from the start. `context` outlives it.
  explicit UdaddyServer(ServiceContext& context, std::uint16_t port = kUdaddyPort);

  QpNumber qp() const noexcept { return qp_; }
  // Rounds and octets: datagrams that went back; violations: that had no immediate data, or came from nowhere;
  // connections: who has asked for the QP.
  ServiceCounters counters() const noexcept;
  // The same, told by the process that runs the NIC, taken by others.
  void exchange_figures(StateArchive& archive) { archive(counters_); }

  // False: of a QP that is not this service's.
  bool on_completion(Instant now, const Completion& completion);

 private:
  void post_receive(Instant now, std::uint64_t place);
  bool answer(Instant now, const Completion& received);

  ServiceContext& context_;
  std::uint16_t port_;
  std::uint32_t room_;  // of a place
  ServiceMemory memory_;
  QpNumber qp_{};
  std::vector<AhId> ways_;  // back, by place
  ServiceCounters counters_;
};

}  // namespace railyard::roce
