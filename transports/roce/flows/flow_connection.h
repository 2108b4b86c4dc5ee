// The QPs of a flow, made at both NICs and connected without a word between them: what a subnet's operator, or the
// connection manager, would agree on is known to both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "transports/roce/flows/flow_config.h"
#include "transports/roce/flows/flow_endpoint.h"
#include "transports/roce/qp_attributes.h"

namespace railyard::roce {

// One of the two NICs.
struct FlowEnd {
  FlowEndpoint* nic = nullptr;
  AddressVector av{};  // to the other one, but for the UDP source port
  // Timers, retries, path MTU, READs at a time; the rest follows from the flow.
  QpAttributes attributes{};
  std::optional<SelectiveRepeatConfig> selective_repeat{};  // both ends or none; else go-back-N
};

class FlowConnection {
 public:
  // Where the flow is in each NIC's endpoint.
  struct Places {
    std::size_t at_source;
    std::size_t at_sink;
  };

  // Brings all of the flow's QPs to RTS and registers its memory; the first messages are posted at its start. Values of
  // `flow` and attributes are in range, and both ends have the same path MTU. UDP source ports (one per QP, the same in
  // both directions) and first PSNs are drawn from `chance`.
  static Places make(const FlowConfig& flow, const FlowEnd& source, const FlowEnd& sink, std::uint64_t chance);

 private:
  struct Half;
  static std::size_t add_flow(const FlowConfig& flow, FlowEndpoint& nic, bool is_source);
  static Half add_lane(const FlowEnd& end, std::size_t place, std::uint32_t q);
  static void register_memory(const Half& half);
  static void connect(const Half& half, const Half& peer, std::uint16_t port, std::uint32_t sq_psn,
                      std::uint32_t rq_psn);
};

}  // namespace railyard::roce
