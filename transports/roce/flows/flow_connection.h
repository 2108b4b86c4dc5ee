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
  std::optional<SelectiveRepeatConfig> selective_repeat{};  // both ends or none, and none of UC; else go-back-N
  QpType qp_type = QpType::kRc;                             // or UC, both ends: WRITEs and SENDs only
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

  // One end of a flow whose other end is elsewhere; its QPs wait for connect_to(), and then for FlowEndpoint::start().
  // Returns where it is in the NIC's endpoint.
  static std::size_t make_here(const FlowConfig& flow, const FlowEnd& end, bool is_source);
  // Gives up the end at `place` and makes it anew, of other QPs: nothing has been sent or has come. Returns where it is
  // now. No packet is under way from the endpoint to its NIC.
  static std::size_t make_anew(const FlowEnd& end, std::size_t place);
  // What the peer at the other end of QP `q` must know of this end.
  struct FarEnd {
    std::uint32_t qpn = 0;
    std::uint32_t key = 0;
    std::uint64_t address = 0;  // of the stream at a source, of the QP's slots at a sink
  };
  static FarEnd end_of(const FlowEndpoint& nic, std::size_t place, std::uint32_t q);
  // What both ends of QP `q` begin with.
  struct Draws {
    std::uint16_t port;        // UDP source port, the same in both directions
    std::uint32_t source_psn;  // of the first packet from the source
    std::uint32_t sink_psn;
  };
  static Draws draws(std::uint64_t chance, std::uint32_t q) noexcept;
  // Brings QP `q` to RTS. `end`: as for make_here(). `peer_reads`: READs that the far end takes at a time. The NIC must
  // be told (Host::endpoint_changed).
  static void connect_to(Instant now, const FlowEnd& end, std::size_t place, std::uint32_t q, const FarEnd& peer,
                         std::uint16_t peer_reads, const Draws& draws);

 private:
  struct Half;
  static std::size_t add_flow(const FlowConfig& flow, FlowEndpoint& nic, bool is_source);
  static Half add_lane(const FlowEnd& end, std::size_t place, std::uint32_t q);
  static void register_memory(const Half& half);
};

}  // namespace railyard::roce
