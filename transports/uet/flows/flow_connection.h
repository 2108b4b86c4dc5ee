// The lanes of a flow, made at both NICs without a word between them: keys, contexts and addresses are known to both.
#pragma once

#include <cstddef>

#include "transports/uet/flows/flow_config.h"
#include "transports/uet/flows/flow_endpoint.h"

namespace railyard::uet {

// One of the two NICs.
struct FlowEnd {
  FlowEndpoint* nic = nullptr;
  AddressVector av{};  // to the other one
  std::uint8_t data_class = 0;  // of the flow, as this NIC counts them
};

class FlowConnection {
 public:
  // Where the flow is in each NIC's endpoint.
  struct Places {
    std::size_t at_source;
    std::size_t at_sink;
  };

  // Makes contexts and registers memory for all of the flow's lanes; the first messages are posted at its start. Values
  // of `flow` are in range, and fit its delivery mode and the Payload MTU, which is the same at both ends.
  static Places make(const FlowConfig& flow, const FlowEnd& source, const FlowEnd& sink);

 private:
  static std::size_t add_flow(const FlowConfig& flow, FlowEndpoint& nic, bool is_source);
  static std::uint32_t add_lane(const FlowEnd& end, std::size_t place, std::uint32_t q);
  static void register_memory(FlowEndpoint& nic, FlowEndpoint::Lane& lane);
};

}  // namespace railyard::uet
